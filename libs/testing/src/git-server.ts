import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";

/** Looks at a request first. @returns whether it has answered */
export type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;

/** git's own server of repositories over HTTPS, with a certificate that this process trusts from now on. */
export async function startGitServer(repositories: string, intercept: Intercept = () => false) {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-git-server-"));
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"];
  execFileSync("openssl", ["req", "-x509", ...curve, "-nodes", "-keyout", key, "-out", certificate, "-days", "2", ...subject], {
    stdio: "ignore",
  });
  setDefaultCACertificates([...getCACertificates("default"), readFileSync(certificate, "utf8")]);
  const requests: string[] = [];
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (!intercept(request, response)) serve(repositories, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    /** For NODE_EXTRA_CA_CERTS of other processes. */
    certificate,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** By the program that comes with git for web servers (CGI). */
function serve(repositories: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url!, "https://localhost");
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: repositories,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REQUEST_METHOD: request.method,
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers["content-type"],
      CONTENT_LENGTH: request.headers["content-length"],
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  request.pipe(backend.stdin);
  backend.stdin.on("error", () => undefined);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  backend.stdout.on("end", () => {
    const output = Buffer.concat(chunks);
    const end = output.indexOf("\r\n\r\n");
    const headers = output.toString("latin1", 0, end).split("\r\n");
    for (const line of headers) {
      const [name = "", value = ""] = line.split(": ");
      if (name === "Status") response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.end(output.subarray(end + 4));
  });
}
