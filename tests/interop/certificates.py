"""Certificates for TLS, made anew for each run by OpenSSL's program, and the settings with which HBase uses them."""

import pathlib
import subprocess
import time

VALID_DAYS = 2
HERE_ALONE = "subjectAltName=DNS:localhost,IP:127.0.0.1"


def openssl(*words):
    run = subprocess.run(["openssl", *map(str, words)], capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(f"openssl {words[0]} ended with {run.returncode}: {run.stderr.strip()}")


class Certificates:
    """An issuer; files with a certificate of this machine and its key; and a certificate that nobody trusts."""

    def __init__(self, folder):
        folder = pathlib.Path(folder).resolve()
        self.folder = folder
        self.issuer = folder / "issuer.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", VALID_DAYS, "-subj", "/CN=issuer",
                "-keyout", folder / "issuer.key", "-out", self.issuer)
        (folder / "extensions").write_text(HERE_ALONE + "\n")
        self.server = self.issued("server")
        self.client = self.issued("client")
        self.stranger = folder / "stranger.pem"
        openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", VALID_DAYS, "-subj", "/CN=stranger",
                "-addext", HERE_ALONE, "-keyout", folder / "stranger.key", "-out", folder / "stranger.crt")
        self.joined("stranger")

    def issued(self, name):
        request = self.folder / f"{name}.csr"
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}",
                "-keyout", self.folder / f"{name}.key", "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.issuer, "-CAkey", self.folder / "issuer.key",
                "-CAcreateserial", "-days", VALID_DAYS, "-extfile", self.folder / "extensions",
                "-out", self.folder / f"{name}.crt")
        return self.joined(name)

    def joined(self, name):
        """One file with the certificate and its key, as HBase takes it."""
        path = self.folder / f"{name}.pem"
        path.write_text((self.folder / f"{name}.crt").read_text() + (self.folder / f"{name}.key").read_text())
        return path

    def site(self, own):
        """A directory for HBase's class path: TLS alone, and every client shows a certificate."""
        settings = {"hbase.server.netty.tls.enabled": "true", "hbase.client.netty.tls.enabled": "true",
                    "hbase.server.netty.tls.supportplaintext": "false",
                    "hbase.server.netty.tls.client.auth.mode": "NEED",
                    "hbase.rpc.tls.keystore.location": own, "hbase.rpc.tls.truststore.location": self.issuer}
        folder = self.folder / f"site-{own.stem}"
        folder.mkdir()
        properties = "".join(f"<property><name>{name}</name><value>{value}</value></property>\n"
                             for name, value in settings.items())
        (folder / "hbase-site.xml").write_text(f"<configuration>\n{properties}</configuration>\n")
        return folder

    def options(self, own="client", issuer="issuer"):
        """The options of a cluster's name."""
        shown = f"&tls_cert={self.folder / own}.pem&tls_key={self.folder / own}.pem" if own else ""
        return f"tls=true&tls_ca={self.folder / issuer}.pem{shown}"


def expect(run, what, name, words, tally):
    """A client that cannot work hears so soon, and in words that help. `run` returns a status and lines."""
    begin = time.monotonic()
    status, lines = run(name)
    seconds = time.monotonic() - begin
    tally.count("clients that are told why they cannot work")
    if status == 0 or seconds > 10 or words not in " ".join(lines):
        tally.differ(f"{what}: ended with {status} after {seconds:.1f} s: {lines}")


def refusals(run, name, pem, tally):
    """A cluster speaks TLS alone and asks for certificates."""
    expect(run, "plain text", f"{name}?timeout_ms=3000", "tls=true", tally)
    expect(run, "no certificate", f"{name}?{pem.options(own=None)}", "requires a certificate", tally)
    expect(run, "an unknown certificate", f"{name}?{pem.options(own='stranger')}", "refuses the certificate", tally)
    expect(run, "an unknown issuer", f"{name}?{pem.options(issuer='stranger')}", "is not trusted", tally)


def refuses_plain(run, name, tally):
    """A cluster speaks plain text, and the client TLS."""
    expect(run, "TLS", f"{name}?tls=true", "does not speak TLS", tally)
