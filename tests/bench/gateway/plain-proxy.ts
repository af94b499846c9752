import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** What Node itself takes to pass a request on and its answer back, HTTP/1 on both sides, with nothing looked at. */
const upstream = new URL(process.argv[2]!);
const agent = new Agent({ keepAlive: true, maxSockets: 4_096 });

const server = createServer({ keepAliveTimeout: 60_000 }, (asked, answer) => {
  const { method, url: path, headers } = asked;
  const sent = request({ agent, host: upstream.hostname, port: upstream.port, method, path, headers }, (response) => {
    answer.writeHead(response.statusCode!, response.headers);
    response.pipe(answer);
  });
  sent.on("error", () => answer.destroy());
  asked.pipe(sent);
});
server.listen(0, "127.0.0.1", () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on("disconnect", () => process.exit());
