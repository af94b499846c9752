import { execFileSync, fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { freePorts } from "@hlvm/meilisearch-binary/free-ports";
import { repositoryRoot } from "../../e2e/test-mesh.ts";
import { httpWay, type Way } from "./http-way.ts";

const PORTKEY = "@portkey-ai/gateway@1.15.2";
/** Without these its streams break. */
const OVERRIDES = { "@hono/node-server": "1.13.5", hono: "4.9.7" };
const UPSTREAM = fileURLToPath(new URL("upstream.ts", import.meta.url));
const PLAIN_PROXY = fileURLToPath(new URL("plain-proxy.ts", import.meta.url));
const UP_MILLISECONDS = 20_000;

export interface Started {
  readonly way: Way;
  readonly stop: () => Promise<void>;
}

/** The provider itself, which every other way is measured against. */
export async function startUpstream(): Promise<Started & { readonly url: string }> {
  const child = fork(UPSTREAM, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const url = `http://127.0.0.1:${port}/v1`;
  return { url, way: httpWay({ name: "the provider itself", url }), stop: () => ended(child, () => child.disconnect()) };
}

/** What a program on Node cannot go below. */
export async function startPlainProxy(upstream: string): Promise<Started> {
  const child = fork(PLAIN_PROXY, [upstream], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  const way = httpWay({ name: "a proxy of Node that does nothing", url: `http://127.0.0.1:${port}/v1`, pid: child.pid! });
  return { way, stop: () => ended(child, () => child.disconnect()) };
}

/** The gateway that everybody can install from npm; installed beside the project on first use. */
export async function startPortkey(upstream: string): Promise<Started & { readonly whole: Way }> {
  const folder = join(repositoryRoot, ".cache", "peers", "portkey");
  const program = join(folder, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js");
  if (!existsSync(program)) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, overrides: OVERRIDES }));
    execFileSync("npm", ["install", "--prefix", folder, PORTKEY], { stdio: ["ignore", "ignore", "inherit"] });
  }
  const [port] = await freePorts(1);
  const child = spawn(process.execPath, [program, `--port=${port}`, "--headless"], {
    stdio: "ignore",
    env: { PATH: process.env.PATH!, TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" },
  });
  const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": upstream, authorization: "Bearer none" };
  const door = { name: "Portkey", url: `http://127.0.0.1:${port}/v1`, headers, pid: child.pid! };
  // It holds the first piece of a stream back for 25 ms: what it takes besides is seen without one.
  return { ...(await started(child, httpWay(door))), whole: httpWay({ ...door, name: "Portkey, not streamed", isStreamed: false }) };
}

/** Only what a proxy costs, where it is installed. */
export async function startHaproxy(upstream: string): Promise<Started | undefined> {
  const [port] = await freePorts(1);
  const { host } = new URL(upstream);
  const config = join(mkdtempSync(join(tmpdir(), "hlvm-haproxy-")), "haproxy.cfg");
  writeFileSync(
    config,
    `defaults
  mode http
  timeout connect 5s
  timeout client 60s
  timeout server 60s
  option http-no-delay
frontend in
  bind 127.0.0.1:${port}
  default_backend out
backend out
  server one ${host}
`,
  );
  const child = spawn("haproxy", ["-db", "-f", config], { stdio: "ignore" });
  const failed = await Promise.race([once(child, "error").then(() => true), sleep(500).then(() => child.exitCode !== null)]);
  return failed ? undefined : started(child, httpWay({ name: "haproxy", url: `http://127.0.0.1:${port}/v1`, pid: child.pid! }));
}

async function started(child: ChildProcess, way: Way): Promise<Started> {
  const stop = (): Promise<void> => ended(child, () => child.kill());
  for (const until = performance.now() + UP_MILLISECONDS; ; await sleep(100)) {
    try {
      await way.ask({ model: "one" });
      return { way, stop };
    } catch (cause) {
      if (performance.now() < until && child.exitCode === null) continue;
      await stop();
      throw cause;
    }
  }
}

export async function ended(child: ChildProcess, end: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  end();
  await exited;
}
