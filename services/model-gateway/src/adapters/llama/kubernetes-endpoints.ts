import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Exchange } from "../exchange.ts";
import { fieldsOf, type Fields } from "../fields-of.ts";
import { sendHttp } from "../send-http.ts";

const ASK_MILLISECONDS = 2_000;
const KUBERNETES = "the Kubernetes API";
const SHOWN_CHARACTERS = 200;
const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Where the API of the cluster is that this runs in. */
export interface KubernetesSettings {
  readonly url: string;
  /** Of the service account: `token`, `ca.crt` and `namespace`. The kubelet writes the token anew before it ends. */
  readonly folder: string;
}

/**
 * The servers behind a Service that are ready, by its EndpointSlices: those that end are left out as soon as that is known.
 * @param named `http://SERVICE[.NAMESPACE][:PORT]`; without a port it is the first that the slices have
 * @throws Error that says what the API said
 */
export async function kubernetesEndpoints(named: URL, { url, folder }: KubernetesSettings): Promise<readonly string[]> {
  const [token, ca, own] = await Promise.all(
    ["token", "ca.crt", "namespace"].map((name) => readFile(join(folder, name), "utf8").then((text) => text.trim())),
  );
  const [service = "", namespace = own!] = named.hostname.split(".");
  if (!LABEL.test(service) || !LABEL.test(namespace)) throw new Error(`${named.hostname} is not SERVICE.NAMESPACE`);
  // Version 0: from the API server's memory, which is enough for what is asked so often.
  const query = `labelSelector=${encodeURIComponent(`kubernetes.io/service-name=${service}`)}&resourceVersion=0`;
  const address = `${url}/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?${query}`;
  const exchange = new Exchange(KUBERNETES, AbortSignal.timeout(ASK_MILLISECONDS), () => undefined);
  try {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    const answer = await sendHttp(exchange, address, { method: "GET", headers, ca: ca! });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${KUBERNETES} says ${answer.status}: ${messageIn(text)}`);
    return urlsOf(named, itemsIn(text));
  } finally {
    exchange.close();
  }
}

function messageIn(text: string): string {
  try {
    return String(fieldsOf(JSON.parse(text)).message).slice(0, SHOWN_CHARACTERS);
  } catch {
    return text.slice(0, SHOWN_CHARACTERS);
  }
}

function itemsIn(text: string): readonly Fields[] {
  const { kind, items } = fieldsOf(JSON.parse(text));
  if (kind !== "EndpointSliceList") throw new Error(`${KUBERNETES} answers with ${String(kind)} in place of a list of EndpointSlices`);
  // A list of none may be null.
  return Array.isArray(items) ? items.map(fieldsOf) : [];
}

function urlsOf(named: URL, slices: readonly Fields[]): readonly string[] {
  const urls = slices.flatMap(({ addressType, endpoints, ports }) => {
    const port = named.port === "" ? portIn(ports) : Number(named.port);
    if (port === undefined || (addressType !== "IPv4" && addressType !== "IPv6")) return [];
    return list(endpoints)
      .filter(({ conditions }) => fieldsOf(conditions).ready !== false)
      .flatMap(({ addresses }) => (Array.isArray(addresses) ? (addresses as readonly unknown[]).slice(0, 1) : []))
      .map((address) => `${named.protocol}//${addressType === "IPv6" ? `[${String(address)}]` : String(address)}:${port}`);
  });
  return [...new Set(urls)].toSorted();
}

function portIn(ports: unknown): number | undefined {
  const port = list(ports)[0]?.port;
  return typeof port === "number" ? port : undefined;
}

function list(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
