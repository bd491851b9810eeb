"""The parts of GitHub's API that the gate and the nightly run use, on loopback.

`GithubApi` serves a `World` inside a test; as a process it reads the world from a file:

    python -m tests.support.github_api --state STATE.json --log REQUESTS.jsonl --port-file PORT

Every request is recorded, and `GET /_world` shows what became of the world. Faults of the world
are answered first, each the given number of times.
"""

import argparse
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

from tests.support import github_world as w
from tests.support.github_routes import ROUTES, Asked, Reply, missing

__all__ = ["GithubApi", "Recorded", "serve"]


class Recorded(NamedTuple):
    """A request that was answered."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    token: str
    status: int


class GithubApi:
    """Serves a world until it is closed.

    Parameters
    ----------
    world
        Changed by what is posted.
    log
        File that every request is appended to, as a line of JSON.
    """

    def __init__(self, world: w.World, log: Path | None = None, port: int = 0) -> None:
        self.world, self.requests, self._log = world, list[Recorded](), log
        self._lock = threading.Lock()
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet an answer: the client would wait for the second one

            def _serve(self) -> None:
                api._answer(self)

            do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names it looks for

            def log_message(self, *_: Any) -> None:
                """Say nothing; requests are recorded."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def serve_forever(self) -> None:
        self._server.serve_forever(poll_interval=0.02)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def sent(self, method: str, path: str = "") -> list[Recorded]:
        """Return the requests of a method whose path has this regular expression in it."""
        return [r for r in self.requests if r.method == method and re.search(path, r.path)]

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(http.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        length = int(http.headers.get("Content-Length") or 0)
        body = json.loads(http.rfile.read(length)) if length else None
        token = (http.headers.get("Authorization") or "").split(" ")[-1]
        with self._lock:
            try:
                reply = Reply(200, self._route(http.command, parts.path, query, body))
            except Reply as other:
                reply = other
            except (StopIteration, KeyError, TypeError):
                reply = missing()
            link = self._page(reply, parts.path, query)
            self._record(Recorded(http.command, parts.path, query, body, token, reply.status))
        data = msgspec.json.encode(reply.body)
        http.send_response(reply.status)
        for key, value in {**reply.headers, **link}.items():
            http.send_header(key, value)
        http.send_header("Content-Type", "application/json; charset=utf-8")
        http.send_header("Content-Length", str(len(data)))
        http.end_headers()
        http.wfile.write(data)

    def _route(self, method: str, path: str, query: dict[str, str], body: Any) -> Any:
        for fault in self.world.faults:
            if fault.times > 0 and fault.method in {"", method} and re.search(fault.path, path):
                fault.times -= 1
                raise Reply(fault.status, {"message": fault.message}, fault.headers)
        if path == "/_world":
            return self.world
        if path == "/user":
            return w.user(self.world.login)
        if path == "/graphql":
            return self._graphql(body)
        found = re.fullmatch(r"/repos/([^/]+/[^/]+)(/.*)?", path)
        if not found or found[1] not in self.world.repositories:
            raise missing()
        for verb, pattern, route in ROUTES:
            hit = re.fullmatch(pattern, found[2] or "")
            if hit and verb == method:
                repo = self.world.repositories[found[1]]
                login = self.world.login
                return route(Asked(repo, found[1], self.url, hit.groups(), query, body, login))
        raise missing()

    def _graphql(self, body: Any) -> Any:
        if "minimizeComment" in body["query"]:
            asked = body["variables"]["input"]
            everything = [c for r in self.world.repositories.values() for c in r.comments]
            for comment in everything:
                if f"IC_{comment.id}" == asked["subjectId"]:
                    comment.minimized = True
                    told = {"isMinimized": True}
                    return {"data": {"minimizeComment": {"minimizedComment": told}}}
            return {"data": None, "errors": [{"type": "NOT_FOUND", "message": "no such node"}]}
        return {"data": {"viewer": {"login": self.world.login}}}

    def _page(self, reply: Reply, path: str, query: dict[str, str]) -> dict[str, str]:
        """Cut a list to its page, and return the link to the next one."""
        if not isinstance(reply.body, list):
            return {}
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        whole = reply.body
        reply.body = whole[(page - 1) * size : page * size]
        if len(whole) <= page * size:
            return {}
        following = urlencode({**query, "per_page": size, "page": page + 1})
        return {"Link": f'<{self.url}{path}?{following}>; rel="next"'}

    def _record(self, request: Recorded) -> None:
        self.requests.append(request)
        if self._log:
            with self._log.open("a", encoding="utf-8") as file:
                file.write(json.dumps(request._asdict()) + "\n")


@contextmanager
def serve(world: w.World) -> Iterator[GithubApi]:
    """Serve a world from a thread, for as long as the context lasts."""
    api = GithubApi(world)
    thread = threading.Thread(target=api.serve_forever)
    thread.start()
    try:
        yield api
    finally:
        api.close()
        thread.join()


def main() -> None:
    """Serve the world of a file until the process is ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--port-file", type=Path)
    options = parser.parse_args()
    world = msgspec.json.decode(options.state.read_bytes(), type=w.World)
    api = GithubApi(world, options.log, options.port)
    if options.port_file:
        temporary = options.port_file.with_suffix(".tmp")
        temporary.write_text(f"{api.url.rsplit(':', 1)[1]}\n", encoding="utf-8")
        temporary.replace(options.port_file)
    api.serve_forever()


if __name__ == "__main__":
    main()
