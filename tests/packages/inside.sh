#!/bin/bash
# What packages.sh and cluster.sh have done inside their system: inside.sh STEP
# [ARGUMENT]..., where each step is a function.
set -eu
tests=/root/tests
cd "$tests"

apt() {
  apt-get -q -o DPkg::Lock::Timeout=60 --yes --no-install-recommends "$@"
}

# What is there before: nobody measures how long it takes.
hasty_apt() { apt -o DPkg::Options::=--force-unsafe-io "$@"; }

# alice COMMAND...: as a user, in her home, by a shell.
alice() {
  su alice --shell /bin/bash --command "cd ~ || exit; $*"
}

# -- install, upgrade, remove ----------------------------------------------------

prepare() {
  apt update
  hasty_apt dist-upgrade
  hasty_apt autoremove --purge
  useradd --create-home alice
  # Nothing starts by itself.
  printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
  chmod 755 /usr/sbin/policy-rc.d
}

install_old() {
  apt install /root/old/*.deb
  [ "$(dpkg-query -W -f='${Version}' troupe)" = 0.0.9 ]
}

job() {
  [ "$(alice troupe run -n 3 --oversubscribe echo here | grep -c '^here$')" = 3 ]
}

upgrade() {
  printf '[tools]\nper_user = 33\n' >/etc/troupe/troupe.toml
  alice troupe up --name before --daemonize
  apt install /root/new/*.deb
  [ "$(dpkg-query -W -f='${Version}\n' troupe libpmix-troupe2 libtroupe0.1 libtroupe-dev \
    troupe-doc | sort -u | wc -l)" = 1 ]
  [ "$(dpkg-query -W -f='${Version}' troupe)" != 0.0.9 ]
  [ "$(alice troupe run --dvm before -n 2 --oversubscribe echo here | grep -c '^here$')" = 2 ]
  alice troupe down
}

settings_stay() {
  grep -qx 'per_user = 33' /etc/troupe/troupe.toml
  alice troupe config show | grep tools.per_user | grep -qw 33
}

pages() {
  local x
  for x in /usr/share/doc/troupe/README.md /usr/share/doc/troupe/docs/operating.md \
    /usr/share/doc/troupe/{LICENSE,CONTRIBUTING.md,actors/README.md,bench/README.md} \
    /usr/share/doc/troupe/examples/cluster.conf /usr/share/doc/troupe/examples/embed_rm.cpp \
    /usr/share/doc/troupe/copyright; do
    [ -s "$x" ] || { echo "there is no $x"; return 1; }
  done
  for x in /usr/bin/troupe*; do
    compgen -G "/usr/share/man/man*/$(basename "$x").*" >/dev/null \
      || { echo "$(basename "$x") has no manual page"; return 1; }
  done
}

# unit NAME: the command of a unit for alice.
unit() {
  sed -n 's/^ExecStart=//p' "/lib/systemd/system/$1@.service" \
    | sed 's|%i|alice|g; s|%t|/run|g; s|%S|/var/lib|g'
}

# What a manager does of the units, but for restarts: directories, the user, commands.
services() {
  local address
  address=$(hostname -I | cut -d' ' -f1)
  address=${address:-127.0.0.1}
  install -d -o alice -m 700 /run/troupe/alice /var/lib/troupe/alice
  alice troupe authority --name cluster authority
  install -o alice -m 600 ~alice/authority /etc/troupe/alice.authority
  sed "s/^DVMControllerHost=.*/DVMControllerHost=$address/
    s/^DVMNodes=.*/DVMNodes=$address,b,c/" /usr/share/doc/troupe/examples/cluster.conf \
    >/etc/troupe/alice.conf
  alice "$(unit troupe-root) >root.out 2>&1 &
    $(unit trouped) --node b >b.out 2>&1 &
    $(unit trouped) --node c >c.out 2>&1 &
    for _ in \$(seq 600); do grep -qx 'DVM ready' root.out && break; sleep 0.1; done
    cat root.out b.out c.out
    test -s /run/troupe/alice/uri && echo uri >hosts
    troupe run --dvm cluster --map-by node -n 3 sh -c 'echo on \$PMIX_HOSTNAME' \
      | sort >>hosts
    troupe down
    wait"
  [ "$(tee /dev/stderr <~alice/hosts | xargs)" = "uri on $address on b on c" ]
  rm -f /etc/troupe/alice.*
}

remove() {
  apt remove troupe libpmix-troupe2 libtroupe0.1 libtroupe-dev troupe-doc
  [ ! -e /usr/bin/troupe ]
  grep -qx 'per_user = 33' /etc/troupe/troupe.toml
}

# What has left settings behind; of the others apt knows nothing any more.
purge() {
  local left
  left=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' '*troupe*' \
    | awk '$1 == "rc" { print $2 }')
  # shellcheck disable=SC2086
  [ -z "$left" ] || dpkg --purge $left
  apt autoremove --purge
}

# -- a cluster -------------------------------------------------------------------

# What a site's nodes have anyway.
install_mpi() {
  hasty_apt install openmpi-bin
}

# install_nodes FOLDER: what a node needs, as docs/packages.md says.
install_nodes() {
  apt install "/root/$1"/troupe_*.deb "/root/$1"/libpmix-troupe2_*.deb
}

# The bootstrap file and the authority of alice's DVM on n1, n2 and n3, and what the
# site has set for metrics.
configure() {
  sed 's/^DVMControllerHost=.*/DVMControllerHost=n1/; s/^DVMNodes=.*/DVMNodes=n[1-3]/' \
    /usr/share/doc/troupe/examples/cluster.conf >/etc/troupe/alice.conf
  grep -qx 'AuthorityFile=/etc/troupe/alice.authority' /etc/troupe/alice.conf
  troupe authority --name cluster /etc/troupe/alice.authority
  chown alice /etc/troupe/alice.authority
  [ "$(stat -c %a /etc/troupe/alice.authority)" = 600 ]
  install -d -o alice -m 700 /var/lib/troupe/alice
  printf '[metrics]\nport = 9466\nlocal = false\n' >>/etc/troupe/troupe.toml
  troupe config check /etc/troupe/troupe.toml
}

# What the site has made, it removes itself.
unconfigure() {
  rm -f /etc/troupe/alice.conf /etc/troupe/alice.authority
}

remove_nodes() {
  apt remove troupe libpmix-troupe2
  [ ! -e /usr/bin/troupe ]
  grep -qx 'port = 9466' /etc/troupe/troupe.toml
}

purge_nodes() {
  purge
}

# -- programs of others ----------------------------------------------------------

libpmix_files() { sha256sum /usr/lib/*/libpmix.so* /usr/lib/*/pmix2/lib/libpmix.so*; }

install_others() {
  hasty_apt install openmpi-bin libpmix2 libpmix-dev python3-mpi4py environment-modules \
    slurm-wlm munge procps util-linux g++ pkg-config libc6-dev
  libpmix_files >libpmix.before
  ldconfig -p | grep libpmix >loader.before
}

install_new() {
  apt install /root/new/*.deb
}

untouched() {
  libpmix_files | cmp - libpmix.before
  ldconfig -p | grep libpmix | cmp - loader.before
}

export OMPI_MCA_btl_vader_single_copy_mechanism=none
ring="size 4: hello right, ring right, allreduce right"

open_mpi() {
  alice "troupe run -n 4 --oversubscribe $tests/mpi_ring" | grep -qx "$ring"
}

fences() { grep -q '^pmix fence brought 4 of 4 values, event received$'; }

libpmix() {
  alice "troupe run -n 4 --oversubscribe $tests/pmix_hello" | fences
  alice "troupe run --own-libpmix -n 4 --oversubscribe $tests/pmix_hello" | fences
}

mpi4py() {
  alice "troupe run -n 4 --oversubscribe /usr/bin/python3 $tests/mpi4py_program.py" \
    | grep -qx 'mpi4py: 4 processes agree'
}

# Which libpmix the parent of a process of a job has.
server_of() {
  # shellcheck disable=SC2016
  echo 'grep -o "/[^ ]*libpmix\.so[^ ]*" /proc/$PPID/maps | sort -u'
}

module() {
  local with="source /usr/share/modules/init/bash && module load troupe-pmix &&"
  alice "$with ldd $tests/pmix_hello" | grep -q '/troupe/pmix/lib/libpmix\.so\.2'
  alice "$with mpirun --oversubscribe -n 4 $tests/mpi_ring" | grep -qx "$ring"
  alice "$with mpirun -n 1 sh -c '$(server_of)'" | grep '/troupe/pmix/lib/libpmix\.so'
  ! alice "$with module unload troupe-pmix && ldd $tests/pmix_hello" | grep '/troupe/pmix/'
}

slurm() {
  # shellcheck source=tests/interop/check.sh
  . ./check.sh
  # shellcheck source=tests/interop/slurm_cluster.sh
  . ./slurm_cluster.sh
  set +eu
  trap slurm_stop EXIT
  PATH=$PATH:/usr/sbin
  slurm_start /root/slurm "$(echo /usr/lib/*/troupe/pmix/lib/libpmix.so.2)" || return
  # Both nodes are this machine: files of the same names in one /dev/shm.
  OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo \
    srun --mpi=pmix -N 2 -n 4 ./mpi_ring | tee ring.out
  grep -qx "$ring" ring.out
}

develop() {
  local folder
  folder=$(echo /usr/lib/*/troupe/pmix/lib)
  # shellcheck disable=SC2046
  c++ -std=c++17 embed_rm.cpp $(pkg-config --cflags --libs troupe) -o embed_rm
  [ "$(PKG_CONFIG_PATH=$folder/pkgconfig pkg-config --variable=libdir pmix | xargs realpath)" \
    = "$folder" ]
  install -m 755 embed_rm /home/alice/embed_rm
  alice "./embed_rm $tests/pmix_hello" | tee served
  grep -q '^pmix fence brought 2 of 2 values, event received$' served
  # shellcheck disable=SC2046
  c++ -std=c++17 mini_rm.cpp $(pkg-config --cflags --libs troupe_mesh) -o mini_rm
  install -m 755 mini_rm /home/alice/mini_rm
  alice "echo run 6 $tests/pmix_hello | ./mini_rm 3 2" | tee placed
  grep -q '^job-1 is done$' placed
}

declare -F "$1" >/dev/null || { echo "there is no step $1"; exit 2; }
set -x
"$@"
