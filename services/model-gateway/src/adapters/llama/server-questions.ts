import { askJson } from "../ask-json.ts";
import type { Exchange } from "../exchange.ts";
import { fieldsOf } from "../fields-of.ts";
import { onKeptConnection } from "../on-kept-connection.ts";
import { sendHttp } from "../send-http.ts";
import { LLAMA } from "./provider-name.ts";

/** What `/health` answers while a model is loaded. */
const LOADING_STATUS = 503;

/** What a llama-server says of itself; each version leaves something out. */
export interface ServerProperties {
  /** `router`: it stands before a server for each of its models. */
  readonly role?: string;
  readonly total_slots?: number;
  readonly default_generation_settings?: { readonly n_ctx?: number };
  readonly chat_template?: string;
  /** Whether the model sees: servers that were given a projector beside it. */
  readonly modalities?: { readonly vision?: boolean };
  /** Newer servers say themselves what the template makes of tools. */
  readonly chat_template_caps?: { readonly supports_tools?: boolean };
  /** Whether `/slots` is there. */
  readonly endpoint_slots?: boolean;
}

export interface ListedModel {
  readonly id: string;
  readonly meta?: { readonly n_params?: number; readonly n_ctx?: number } | null;
  /** Of a router's model: `unloaded`, `loading`, `loaded` …; it is loaded when it is first asked. */
  readonly status?: { readonly value?: string; readonly failed?: boolean };
}

/** How many slots are at work, and the context of each that tells. */
export interface SlotUse {
  readonly busy: number;
  readonly windows: readonly number[];
}

/** Asks one llama-server what it is, in one exchange. Each throws ModelError, or the network's error. */
export class ServerQuestions {
  readonly #url: string;
  readonly #exchange: Exchange;

  /** @param url without the `/v1` */
  constructor(url: string, exchange: Exchange) {
    this.#url = url;
    this.#exchange = exchange;
  }

  /** Whatever else it answers, servers without the path too, its properties decide. */
  async isLoading(): Promise<boolean> {
    const status = await onKeptConnection(this.#exchange, async () => {
      const answer = await sendHttp(this.#exchange, `${this.#url}/health`, { method: "GET", headers: {} });
      await answer.text();
      return answer.status;
    });
    return status === LOADING_STATUS;
  }

  /** @param query of one model of a router */
  properties(query = ""): Promise<ServerProperties> {
    return this.#get(`/props${query}`);
  }

  async models(): Promise<readonly ListedModel[]> {
    const list = await this.#get<{ readonly data?: readonly ListedModel[] }>("/v1/models");
    return list.data ?? [];
  }

  /** Every slot is an object whose other fields differ between versions; undefined where it answers anything else. */
  async slots(query: string): Promise<SlotUse | undefined> {
    const answer: unknown = await this.#get(`/slots${query}`);
    if (!Array.isArray(answer)) return undefined;
    const slots = answer.map(fieldsOf);
    return {
      busy: slots.filter(isBusy).length,
      windows: slots.flatMap(({ n_ctx: window }) => (typeof window === "number" ? [window] : [])),
    };
  }

  #get<T extends object>(path: string): Promise<T> {
    const question = { provider: LLAMA, url: `${this.#url}${path}`, headers: {} };
    return onKeptConnection(this.#exchange, () => askJson<T>(this.#exchange, question));
  }
}

/** `next_token` is an object in some versions and an array of one in others; older ones had no `is_processing`. */
function isBusy(slot: Readonly<Record<string, unknown>>): boolean {
  if (typeof slot.is_processing === "boolean") return slot.is_processing;
  const next = fieldsOf(Array.isArray(slot.next_token) ? slot.next_token[0] : slot.next_token);
  return next.has_next_token === true;
}
