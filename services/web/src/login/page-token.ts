const KEY = "hlvm-page-token";
const CHANNEL = "hlvm-page-token";
const ASK_MILLISECONDS = 300;

type Message = { readonly kind: "asked" } | { readonly kind: "token"; readonly token: string };

/** Whether this tab has a token, or a code for one in its address: then nobody has to be asked how people get in here. */
export function hasPageToken(): boolean {
  return location.hash.startsWith("#code=") || sessionStorage.getItem(KEY) !== null;
}

/**
 * The token that this page sends: swapped for the code in its address, kept for this tab, or given by another tab of the same
 * origin. No cookie: every port of this machine would get it.
 * @throws Error in words, where the code was refused
 */
export async function pageToken(): Promise<string | undefined> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  // Out of the history before anything else can read it.
  if (code !== undefined) history.replaceState(null, "", location.pathname + location.search);
  const token = code === undefined ? (sessionStorage.getItem(KEY) ?? (await askOtherTabs())) : await swap(code);
  if (token === undefined) return undefined;
  sessionStorage.setItem(KEY, token);
  answerOtherTabs(token);
  return token;
}

export function forgetPageToken(): void {
  sessionStorage.removeItem(KEY);
}

async function swap(code: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const response = await fetch("/auth/token", { method: "POST", headers, body: JSON.stringify({ code }) });
  const answer = (await response.json()) as { token?: string; error?: { message: string } };
  if (answer.token === undefined) throw new Error(answer.error?.message ?? "The link was refused.");
  return answer.token;
}

function askOtherTabs(): Promise<string | undefined> {
  const channel = new BroadcastChannel(CHANNEL);
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(undefined), ASK_MILLISECONDS);
    const end = (token: string | undefined): void => {
      clearTimeout(timer);
      channel.close();
      resolve(token);
    };
    channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      if (data.kind === "token") end(data.token);
    });
    post(channel, { kind: "asked" });
  });
}

function answerOtherTabs(token: string): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.kind === "asked") post(channel, { kind: "token", token });
  });
}

function post(channel: BroadcastChannel, message: Message): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has none: it reaches its own origin only
  channel.postMessage(message);
}
