/** `in`: the browser's cookie lets it in. `elsewhere`: on its way to log in. `local`: this edge has one user and no logins. */
export type TeamLogin = "in" | "elsewhere" | "local";

/** Whether this edge is a company's, and if so whether somebody is logged in: who is not goes to log in, and comes back here. */
export async function teamLogin(): Promise<TeamLogin> {
  const headers = { "content-type": "application/json" };
  const response = await fetch("/hlvm.identity.v1.MemberService/GetMe", { method: "POST", headers, body: "{}" });
  if (response.ok) return "in";
  const answer = (await response.json()) as { error?: { reason: string } };
  if (answer.error?.reason !== "login_needed") return "local";
  goToLogin();
  return "elsewhere";
}

export function goToLogin(): void {
  location.assign(`/auth/login?${new URLSearchParams({ to: location.pathname + location.search }).toString()}`);
}

/** Ends the login here, and the identity provider's own where that can be ended. @throws Error where the edge did not answer */
export async function logOut(): Promise<void> {
  const response = await fetch("/auth/logout", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" });
  if (!response.ok) throw new Error("You are still logged in: the edge did not answer.");
  const { to } = (await response.json()) as { to: string };
  location.assign(to);
}
