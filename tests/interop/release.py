#!/usr/bin/env python3
"""Tries the scripts of the release and of the action, with a release on a server of this machine.

The command is packed as a release has it, served beside a repository with tags, and installed as the action does it: by a tag,
by a commit, where there is no program of a release, and where the download is not what was released. Version and address are
changed in a copy of the files that have them. Shell parts of workflows and of the action are parsed by bash. Needs Python 3.11 and git; with ruamel.yaml the shell parts are parsed, too. Exit status 1
if something is not as it should be, 3 if git is missing.
"""

import argparse
import functools
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
RELEASE = ROOT / "release"
sys.path.insert(0, str(RELEASE))

from metadata import PLACES, cargo  # noqa: E402

# The names that runners have for this machine, whatever it is: what is installed is the program that was packed.
RUNNER = {"RUNNER_OS": "Linux", "RUNNER_ARCH": "X64"}
TARGET = "x86_64-unknown-linux-musl"
RUNNERS = [(system, processor) for system in ("Linux", "macOS", "Windows") for processor in ("X64", "ARM64")]


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves a folder; what is called `broken` is an error of the server."""

    def do_GET(self):
        if "broken" in self.path:
            self.send_error(500)
        else:
            super().do_GET()

    def log_message(self, *args):
        pass


def git(folder, *words):
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]
    done = subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(folder, version):
    """A repository with a tag for the version, and a commit after it; returns both commits."""
    work = folder.parent / "work"
    work.mkdir()
    git(work, "init")
    git(work, "commit", "--allow-empty", "-m", "one")
    git(work, "tag", "-a", f"v{version}", "-m", "a version")
    git(work, "branch", "v0")
    released = git(work, "rev-parse", "HEAD")
    git(work, "commit", "--allow-empty", "-m", "two")
    git(folder.parent, "clone", "--bare", str(work), str(folder))
    git(folder, "update-server-info")
    return released, git(work, "rev-parse", "HEAD")


def install(words, **env):
    """Calls the script as the action does."""
    env = {**os.environ, **RUNNER, **env}
    return subprocess.run(["bash", RELEASE / "install.sh", *words], env=env, capture_output=True, text=True)


def planned(**env):
    done = install(["plan"], **env)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def stand_in(folder):
    """A cargo that writes a program instead of building it."""
    folder.mkdir()
    script = folder / "cargo"
    script.write_text('#!/usr/bin/env bash\nwhile [ "$1" != --root ]; do shift; done\n'
                      'mkdir -p "$2/bin" && echo built >"$2/bin/nnef-flatten"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def plans(server, archive, released, later, version):
    """Which program is chosen for what the action is used by."""
    where = {"SERVER": server, "REPOSITORY": "owner/nnef-flatten"}
    for ref in (f"v{version}", "v0", released):
        assert planned(REF=ref, **where) == {"key": archive, "archive": archive}, ref
    for ref in ("main", later):
        plan = planned(REF=ref, **where)
        assert plan["archive"] == "" and plan["key"].endswith(later), plan
    checkout = planned(REF="", SERVER=server, REPOSITORY="")
    assert checkout["archive"] == "" and "built" in checkout["key"], checkout
    unknown = planned(REF="v0", **{**where, "RUNNER_ARCH": "RISCV"})
    assert unknown["archive"] == "", unknown
    targets = {row["target"] for row in json.loads((RELEASE / "platforms.json").read_text())}
    for system, processor in RUNNERS:
        name = planned(REF="v0", **{**where, "RUNNER_OS": system, "RUNNER_ARCH": processor})["archive"]
        target = name.removeprefix(f"nnef-flatten-v{version}-").removesuffix(".zip").removesuffix(".tar.gz")
        assert target in targets, (system, processor, name)


def installs(server, folder, archive, files, path):
    """What is installed, and what is refused."""
    where = {"SERVER": server, "REPOSITORY": "owner/nnef-flatten", "PATH": path}
    done = install(["run", archive, folder / "released"], **where)
    assert done.returncode == 0, done.stderr
    told = subprocess.run([folder / "released/nnef-flatten", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["nnef-flatten", cargo()["version"]], told.stdout
    for number, name in enumerate(["", archive.replace("x86_64", "riscv64")]):
        done = install(["run", name, folder / f"built{number}"], **where)
        assert done.returncode == 0 and "::notice::" in done.stdout, (done.stdout, done.stderr)
        assert (folder / f"built{number}/nnef-flatten").read_text() == "built\n"
    for name in ("broken.tar.gz", "changed.tar.gz"):
        done = install(["run", name, folder / name], **where)
        assert done.returncode == 1 and "::error::" in done.stderr, (name, done)
        assert not list((folder / name).iterdir()), name
    sums = files / "SHA256SUMS"
    sums.write_text(sums.read_text().replace(archive, "another"))
    assert install(["run", archive, folder / "unknown"], **where).returncode == 1


def addresses(folder):
    """Another version and address reach all places, and a placeholder or an undated version may not be published."""
    for name in [*(name for name, _ in PLACES), *(f"release/{path.name}" for path in RELEASE.glob("*.*")), "CHANGELOG.md"]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init")
    address, manifest, version = folder / "release/address.toml", folder / "Cargo.toml", "91.5.3"

    def asked(*words):
        script = [sys.executable, folder / "release/metadata.py"]
        done = subprocess.run([*script, *words], capture_output=True, text=True)
        return done.returncode, done.stdout

    assert asked("--check") == (0, "")
    manifest.write_text(manifest.read_text().replace(cargo()["version"], version, 1))
    address.write_text('repository = "https://example.com/OWNER/nnef-flatten"\nhomepage = "https://example.org/page/"\n')
    assert asked("--check")[1].count("should be") > len(PLACES)
    assert asked("--write") == (0, "") and asked("--check") == (0, "")
    status, told = asked("--release", f"v{version}")
    assert status == 1 and "placeholder" in told and "with its date" in told, told
    address.write_text(address.read_text().replace("OWNER", "somebody"))
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{version}] - 2030-01-31\n\n- New.\n")
    assert asked("--write") == (0, "") and asked("--release", f"v{version}") == (0, "")
    assert asked("--release", "v0.0.1")[0] == 1 and asked("--notes") == (0, "- New.\n")
    (folder / "page.md").write_text("https://github.com/another/nnef-flatten")
    assert "page.md" in asked("--check")[1]


def shell_parts():
    """The scripts of workflows and of the action, and where they are."""
    try:
        from ruamel.yaml import YAML
    except ImportError:
        print("skipped: without ruamel.yaml, shell parts of workflows are not parsed")
        return
    for path in [ROOT / "action.yml", *sorted((ROOT / ".github/workflows").glob("*.yml"))]:
        read = YAML(typ="safe").load(path)
        jobs = [read["runs"]] if "runs" in read else read["jobs"].values()
        for step in (step for job in jobs for step in job["steps"] if "run" in step):
            # An expression would put what others write into the script.
            assert "${{" not in step["run"], f"{path}: {step['run']}"
            yield path.name, step["run"]


def scripts_parse():
    parts = [(path.name, path.read_text()) for path in sorted(RELEASE.glob("*.sh"))]
    for name, text in [*parts, *shell_parts()]:
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, f"{name}: {done.stderr}"


def packed(program, folder):
    """Packs the command twice, into the same bytes, and notes the digests."""
    words = [sys.executable, RELEASE / "archive.py", "--target", TARGET, "--bin", program, "--folder"]
    made = [pathlib.Path(subprocess.run([*words, folder], check=True, capture_output=True, text=True).stdout.strip())
            for folder in (folder, folder.with_name("again"))]
    assert made[0].read_bytes() == made[1].read_bytes()
    (folder / "changed.tar.gz").write_bytes(b"something")
    subprocess.run([sys.executable, RELEASE / "archive.py", "--sums", folder], check=True)
    (folder / "changed.tar.gz").write_bytes(b"something else")
    return made[0].name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    args = parser.parse_args()
    if not shutil.which("git"):
        print("there is no git")
        return 3
    scripts_parse()
    version = cargo()["version"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        addresses(folder / "copy")
        served = folder / "served/owner/nnef-flatten"
        served.parent.mkdir(parents=True)
        released, later = repository(served, version)
        files = served / f"releases/download/v{version}"
        files.mkdir(parents=True)
        archive = packed(args.bin, files)
        handler = functools.partial(Server, directory=folder / "served")
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            address = f"http://127.0.0.1:{server.server_port}"
            plans(address, archive, released, later, version)
            installs(address, folder, archive, files, stand_in(folder / "tools"))
            server.shutdown()
    print("addresses, archives, digests, choice and installation are as they should be")
    return 0


if __name__ == "__main__":
    sys.exit(main())
