import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

export interface BrowserAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const MOST_REDIRECTS = 20;

/** Keeps cookies by host and follows redirects as a browser does. What a browser says of where a request comes from, the test says. */
export class TestBrowser {
  /** By host with its port, then by name. A real browser sends them to every port; here it is told apart whose a cookie is. */
  readonly #cookies = new Map<string, Map<string, string>>();

  cookie(url: string, name: string): string | undefined {
    return this.#cookies.get(new URL(url).host)?.get(name);
  }

  setCookie(url: string, name: string, value: string): void {
    this.#jarOf(url).set(name, value);
  }

  /** One request, no redirect followed. */
  send(url: string, { method = "GET", headers = {}, body }: Sent = {}): Promise<BrowserAnswer> {
    const cookie = [...this.#jarOf(url)].map(([name, value]) => `${name}=${value}`).join("; ");
    return new Promise((resolve, reject) => {
      const sent = httpRequest(url, { method, headers: { ...(cookie === "" ? {} : { cookie }), ...headers } }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => {
          for (const line of response.headers["set-cookie"] ?? []) this.#keep(url, line);
          resolve({ url, status: response.statusCode!, headers: response.headers, body: text });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** Follows redirects until there is none, or until they lead where `until` says. */
  async open(url: string, until: (url: string) => boolean = () => false): Promise<BrowserAnswer> {
    let answer = await this.send(url);
    for (let step = 0; answer.headers.location !== undefined && step < MOST_REDIRECTS; step++) {
      const next = new URL(answer.headers.location, answer.url).href;
      if (until(next)) return { ...answer, url: next };
      answer = await this.send(next);
    }
    return answer;
  }

  /** Logs in as the provider's page offers. @returns where it ended, or where `until` stopped it */
  async logIn(url: string, subject: string, until?: (url: string) => boolean): Promise<BrowserAnswer> {
    const page = await this.open(url);
    if (!page.url.includes("/choose/")) throw new Error(`no provider asked who it is: ${page.status} ${page.url} ${page.body}`);
    const chosen = await this.send(`${page.url}?as=${encodeURIComponent(subject)}`, { method: "POST" });
    const next = new URL(chosen.headers.location!, page.url).href;
    return this.open(next, until);
  }

  #jarOf(url: string): Map<string, string> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    return jar;
  }

  #keep(url: string, line: string): void {
    const [pair = "", ...attributes] = line.split("; ");
    const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
    const isOver = attributes.some((attribute) => /^max-age=0$/i.test(attribute) || /^expires=thu, 01 jan 1970/i.test(attribute));
    if (isOver) this.#jarOf(url).delete(name);
    else this.#jarOf(url).set(name, value);
  }
}
