/** What is read of an HTTP answer, whether it came through `fetch` or through `sendHttp`. */
export interface Answer {
  readonly status: number;
  /** Whether the status is one of success. */
  readonly ok: boolean;
  /** Names in lower case. */
  readonly headers: Pick<Headers, "get">;
  text(): Promise<string>;
}
