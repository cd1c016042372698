# Completion of troupe and trouped for bash: commands, options, DVMs, jobs,
# processes, nodes, groups. Installed as share/bash-completion/completions/troupe;
# by hand: . tools/completion/troupe.bash

_troupe() {
  local program=${1/#\~\//$HOME/} line=${COMP_LINE:0:COMP_POINT} found mark words
  read -ra words <<<"$line"
  [[ $line != *[[:space:]] ]] || words+=("")
  mapfile -t found < <("$program" complete -- "${words[@]:1}" 2>/dev/null)
  # What bash takes for the current word begins behind a sign that separates words,
  # such as the colon in JOB:RANK.
  local current=${words[-1]} begin=0 i
  for ((i = 0; i < ${#current}; ++i)); do
    mark=${current:i:1}
    [[ $COMP_WORDBREAKS != *"$mark"* ]] || begin=$((i + 1))
  done
  COMPREPLY=()
  for ((i = 0; i < ${#found[@]}; ++i)); do
    COMPREPLY+=("${found[i]:begin}")
  done
}

_trouped() {
  mapfile -t COMPREPLY < <(compgen -W \
    "$("${1/#\~\//$HOME/}" --help 2>/dev/null | grep -oE -- '^  (-[a-z],)?--?[a-z-]+' \
      | tr -d ' ' | tr , '\n')" -- "$2")
}

complete -o bashdefault -o default -F _troupe troupe
complete -o bashdefault -o default -F _trouped trouped
