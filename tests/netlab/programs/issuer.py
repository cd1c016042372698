#!/usr/bin/python3
"""Makes a certificate of a node out of the authority that a DVM keeps, as somebody
can who has got hold of it.

usage: issuer.py AUTHORITY OUT DVM RANK NAME FROM UNTIL

FROM and UNTIL are days from now, also negative. OUT gets certificate and key as PEM.
"""

import datetime
import os
import struct
import subprocess
import sys
import tempfile

MAGIC = b"TROUPE1\n"

CONFIGURATION = """
[ca]
default_ca = c
[c]
dir = {folder}
database = {folder}/index
new_certs_dir = {folder}
serial = {folder}/serial
default_md = sha256
policy = p
unique_subject = no
x509_extensions = e
[p]
commonName = supplied
[e]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth,serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid:always
subjectAltName = URI:{identity}
"""


def parts(path):
    """Certificate and key of the authority as DER."""
    with open(path, "rb") as file:
        rest = file.read().split(b"\n", 1)[1]
    at = rest.index(MAGIC) + len(MAGIC)
    result = []
    while at < len(rest):
        size = struct.unpack_from(">I", rest, at)[0]
        result.append(rest[at + 4:at + 4 + size])
        at += 4 + size
    return result[0], result[2]


def main():
    path, out, dvm, rank, name = sys.argv[1:6]
    now = datetime.datetime.now(datetime.timezone.utc)
    times = [(now + datetime.timedelta(days=float(x))).strftime("%Y%m%d%H%M%SZ")
             for x in sys.argv[6:8]]
    certificate, key = parts(path)

    def openssl(*words, **more):
        return subprocess.run(["openssl", *words], check=True, capture_output=True,
                              **more).stdout

    with tempfile.TemporaryDirectory() as folder:
        def put(file, content):
            with open(os.path.join(folder, file), "wb") as f:
                f.write(content)
            return os.path.join(folder, file)

        ca = put("ca", openssl("x509", "-inform", "DER", input=certificate))
        ca_key = put("ca.key", openssl("pkey", "-inform", "DER", input=key))
        put("index", b"")
        put("serial", b"1000\n")
        configuration = put("conf", CONFIGURATION.format(
            folder=folder, identity=f"troupe:{dvm}/{rank}/{name}").encode())
        request, new_key = os.path.join(folder, "req"), os.path.join(folder, "key")
        openssl("req", "-new", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-keyout", new_key, "-out",
                request, "-subj", f"/CN={name}")
        openssl("ca", "-batch", "-notext", "-config", configuration, "-cert", ca,
                "-keyfile", ca_key, "-in", request, "-out",
                os.path.join(folder, "crt"), "-startdate", times[0], "-enddate",
                times[1])
        with open(out, "w", encoding="ascii") as result:
            for file in ("crt", "key"):
                with open(os.path.join(folder, file), encoding="ascii") as f:
                    result.write(f.read())


if __name__ == "__main__":
    main()
