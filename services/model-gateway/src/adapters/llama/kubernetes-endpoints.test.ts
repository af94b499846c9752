import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { kubernetesEndpoints, type KubernetesSettings } from "./kubernetes-endpoints.ts";
import { ServerList } from "./server-list.ts";

/** What the API answers with, as its own documents have it. */
let slices: unknown;
let refused: readonly [number, string] | undefined;
let token = "first";
let asked: IncomingMessage[];
let cluster: KubernetesSettings;
const api = createServer((request, response: ServerResponse) => {
  asked.push(request);
  const isKnown = request.headers.authorization === `Bearer ${token}`;
  const [status, message] = refused ?? (isKnown ? [200, ""] : [401, "Unauthorized"]);
  const body = status === 200 ? { kind: "EndpointSliceList", items: slices } : { kind: "Status", status: "Failure", message, code: status };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});

const endpoint = (address: string, conditions?: object) => ({ addresses: [address], conditions });
const slice = (addressType: string, endpoints: readonly object[], port = 8080) => ({
  addressType,
  endpoints,
  ports: [{ name: "http", port, protocol: "TCP" }],
});

beforeEach(async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlvm-account-"));
  token = "first";
  refused = undefined;
  asked = [];
  for (const [name, text] of Object.entries({ token, "ca.crt": "", namespace: "models\n" })) writeFileSync(join(folder, name), text);
  await once(api.listen(0, "127.0.0.1"), "listening");
  cluster = { url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, folder };
});

afterEach(async () => {
  vi.restoreAllMocks();
  rmSync(cluster.folder, { recursive: true });
  api.closeAllConnections();
  api.close();
  await once(api, "close");
});

it("is a server at each endpoint that is ready, once, in either family, at the port that is named or the slices have", async () => {
  slices = [
    slice("IPv4", [endpoint("10.0.0.2"), endpoint("10.0.0.1", { ready: true }), endpoint("10.0.0.3", { ready: false, terminating: true })]),
    slice("IPv4", [endpoint("10.0.0.1", { ready: true })]),
    slice("IPv6", [endpoint("fd00::1", { ready: true })]),
    slice("FQDN", [endpoint("elsewhere.example")]),
    { addressType: "IPv4", endpoints: null, ports: null },
  ];
  expect(await kubernetesEndpoints(new URL("http://llama.gpu"), cluster)).toEqual([
    "http://10.0.0.1:8080",
    "http://10.0.0.2:8080",
    "http://[fd00::1]:8080",
  ]);
  expect(asked[0]!.url).toBe(
    "/apis/discovery.k8s.io/v1/namespaces/gpu/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dllama&resourceVersion=0",
  );
  expect(await kubernetesEndpoints(new URL("http://llama:9000"), cluster)).toContain("http://10.0.0.2:9000");
  expect(asked[1]!.url).toContain("/namespaces/models/");
  slices = null;
  expect(await kubernetesEndpoints(new URL("http://llama.gpu"), cluster)).toEqual([]);
});

it("drains what is ready no more, takes a token that was written anew, and keeps its servers while the API refuses", async () => {
  slices = [slice("IPv4", [endpoint("10.0.0.1"), endpoint("10.0.0.2")])];
  const list = new ServerList({ urls: ["k8s+http://llama.gpu"], kubernetes: cluster });
  let time = Date.now();
  vi.spyOn(Date, "now").mockImplementation(() => time);
  const urls = async () => {
    time += 10_000;
    return (await list.instances()).map(({ url }) => url);
  };
  const [first, second] = await list.instances();
  expect([first!.url, second!.url]).toEqual(["http://10.0.0.1:8080", "http://10.0.0.2:8080"]);
  slices = [slice("IPv4", [endpoint("10.0.0.2"), endpoint("10.0.0.1", { ready: false })])];
  expect(await urls()).toEqual(["http://10.0.0.2:8080"]);
  expect([first!.drain?.kind, second!.drain]).toEqual(["vanished", undefined]);

  token = "second";
  expect(await urls()).toEqual(["http://10.0.0.2:8080"]);
  expect(list.problem).toBe("the Kubernetes API says 401: Unauthorized");
  writeFileSync(join(cluster.folder, "token"), token);
  slices = [slice("IPv4", [endpoint("10.0.0.3")])];
  expect(await urls()).toEqual(["http://10.0.0.3:8080"]);
  expect(list.problem).toBe("");

  refused = [403, 'endpointslices.discovery.k8s.io is forbidden: User "system:serviceaccount:models:gateway" cannot list'];
  expect(await urls()).toEqual(["http://10.0.0.3:8080"]);
  expect(list.problem).toMatch(/403: endpointslices.*cannot list/);
});

it("says that it needs a cluster where there is none, and takes no name that is no Service's", async () => {
  const outside = new ServerList({ urls: ["k8s+http://llama.gpu"] });
  expect(await outside.instances()).toEqual([]);
  expect(outside.problem).toContain("KUBERNETES_SERVICE_HOST is not set");
  await expect(kubernetesEndpoints(new URL("http://a/b"), { ...cluster, folder: "/nowhere" })).rejects.toThrow("ENOENT");
  await expect(kubernetesEndpoints(new URL("http://llama.gpu_1"), cluster)).rejects.toThrow("is not SERVICE.NAMESPACE");
});
