import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { messageOf } from "@hlvm/errors/message-of";
import { kubernetesEndpoints, type KubernetesSettings } from "./kubernetes-endpoints.ts";
import { LlamaInstance, type LlamaInstanceSettings } from "./llama-instance.ts";
import type { ServerSource } from "./llama-pool.ts";

/** Of a name's addresses, a Service's endpoints and the file: a server that comes or goes is noticed within this time. */
const BELIEVED_MILLISECONDS = 2_000;
const DNS = "dns+";
const KUBERNETES = "k8s+";
/** They stand for as many servers as there are just now. */
const LOOKED_UP = /^(?:dns|k8s)\+/;

export interface ServerListSettings extends LlamaInstanceSettings {
  /**
   * Each up to and without `/v1`; `dns+http://NAME:PORT` stands for a server at each of the name's addresses,
   * `k8s+http://SERVICE.NAMESPACE:PORT` for each endpoint of a Service that is ready.
   */
  readonly urls: readonly string[];
  /** A file with further ones, one on a line. */
  readonly urlsFile?: string;
  /** Undefined outside of a cluster. */
  readonly kubernetes?: KubernetesSettings | undefined;
}

/**
 * The servers that settings, DNS, Kubernetes and a file name. One that is named no more is drained: it gets no new request and finishes what
 * it is at. Where a name or the file cannot be read, the servers stay as they were.
 */
export class ServerList implements ServerSource {
  problem = "";
  readonly #settings: ServerListSettings;
  readonly #known = new Map<string, LlamaInstance>();
  #listed: readonly LlamaInstance[] = [];
  #believedUntil = 0;
  #looking: Promise<void> | undefined;

  constructor(settings: ServerListSettings) {
    this.#settings = settings;
    if (this.#isFixed) this.#take(settings.urls);
  }

  async instances(): Promise<readonly LlamaInstance[]> {
    if (!this.#isFixed && this.#believedUntil <= Date.now())
      await (this.#looking ??= this.#look().finally(() => (this.#looking = undefined)));
    return this.#listed;
  }

  get #isFixed(): boolean {
    return !this.#settings.urlsFile && !this.#settings.urls.some((url) => LOOKED_UP.test(url));
  }

  async #look(): Promise<void> {
    try {
      const urls = [...this.#settings.urls, ...(this.#settings.urlsFile ? await readUrls(this.#settings.urlsFile) : [])];
      this.#take((await Promise.all(urls.map((url) => addresses(url, this.#settings.kubernetes)))).flat());
      this.problem = "";
    } catch (thrown) {
      this.problem = messageOf(thrown);
    }
    this.#believedUntil = Date.now() + BELIEVED_MILLISECONDS;
  }

  #take(urls: readonly string[]): void {
    this.#listed = [...new Set(urls)].map((url) => this.#known.get(url) ?? new LlamaInstance(url, this.#settings));
    for (const instance of this.#listed) if (instance.drain?.kind === "vanished") instance.drain = undefined;
    for (const [url, instance] of this.#known) {
      if (this.#listed.includes(instance)) continue;
      instance.drain ??= { kind: "vanished", why: "it is named no more", since: new Date() };
      if (instance.inFlight === 0 && instance.drain.kind === "vanished") this.#known.delete(url);
    }
    for (const [index, instance] of this.#listed.entries()) this.#known.set([...new Set(urls)][index]!, instance);
  }
}

async function readUrls(file: string): Promise<readonly string[]> {
  const lines = (await readFile(file, "utf8")).split("\n").map((line) => line.trim());
  const urls = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const wrong = urls.find((url) => !/^(?:(?:dns|k8s)\+)?https?:\/\//.test(url) || !URL.canParse(url.replace(LOOKED_UP, "")));
  if (wrong !== undefined) throw new Error(`${file} has a line that is no URL: ${wrong}`);
  return urls;
}

async function addresses(url: string, kubernetes: KubernetesSettings | undefined): Promise<readonly string[]> {
  if (url.startsWith(KUBERNETES)) {
    if (kubernetes === undefined) throw new Error(`${url} needs a cluster: KUBERNETES_SERVICE_HOST is not set`);
    return kubernetesEndpoints(new URL(url.slice(KUBERNETES.length)), kubernetes);
  }
  if (!url.startsWith(DNS)) return [url];
  const named = new URL(url.slice(DNS.length));
  const found = await lookup(named.hostname, { all: true });
  return found
    .map(({ address, family }) => {
      const one = new URL(named);
      one.hostname = family === 6 ? `[${address}]` : address;
      return one.href.replace(/\/$/, "");
    })
    .toSorted();
}
