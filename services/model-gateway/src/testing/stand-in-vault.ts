import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { decrypt, encrypt } from "../domain/keys/sealed-secret.ts";

const TRANSIT = /^\/v1\/transit\/(encrypt|decrypt)\/hlvm$/;

/** What Vault's transit engine answers to `encrypt` and `decrypt` of the key "hlvm", over real HTTP. */
export class StandInVault {
  readonly url: string;
  /** Whose token it takes. */
  token = "first token";
  /** In place of its answer. */
  answer: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> } | undefined;
  readonly asked: string[] = [];
  readonly #server: Server;
  readonly #key = randomBytes(32);

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<StandInVault> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const vault = new StandInVault(server);
    server.on("request", (request, response) => void vault.#respond(request, response));
    return vault;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body, headers } = this.#answerTo(request.url ?? "", request.headers["x-vault-token"], await text(request));
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
  }

  #answerTo(path: string, token: unknown, body: string): NonNullable<StandInVault["answer"]> {
    this.asked.push(body);
    if (this.answer !== undefined) return this.answer;
    const [, what] = TRANSIT.exec(path) ?? [];
    if (what === undefined) return { status: 404, body: '{"errors":[]}' };
    if (token !== this.token) return { status: 403, body: '{"errors":["permission denied"]}' };
    const asked = JSON.parse(body) as { plaintext: string; ciphertext: string; associated_data: string };
    try {
      const data =
        what === "encrypt"
          ? {
              ciphertext: `vault:v1:${encrypt(this.#key, Buffer.from(asked.plaintext, "base64"), asked.associated_data).toString("base64")}`,
            }
          : { plaintext: decrypt(this.#key, Buffer.from(asked.ciphertext.slice(9), "base64"), asked.associated_data).toString("base64") };
      return { status: 200, body: JSON.stringify({ data }) };
    } catch {
      return { status: 400, body: '{"errors":["cipher: message authentication failed"]}' };
    }
  }
}
