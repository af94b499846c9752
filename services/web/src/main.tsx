import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@fontsource-variable/inter/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import { createClients } from "./api/clients.ts";
import { forgetPageToken, hasPageToken, pageToken } from "./login/page-token.ts";
import { SignedOut } from "./login/signed-out.tsx";
import { goToLogin, teamLogin } from "./login/team-login.ts";
import { applySettings } from "./pages/settings/page-settings.ts";
import { Shell } from "./shell/shell.tsx";
import { ListStore } from "./store/list-store.ts";
import { PageContext, type PageServices } from "./store/page-context.ts";
import { WatchConnection } from "./watch/watch-connection.ts";

// Begun before anything else: both are scripts of their own, and whoever opens their address waits for them.
if (location.pathname.startsWith("/s/")) void import("./pages/session/session-page.tsx");
if (location.pathname === "/") void import("./pages/sessions/sessions-page.tsx");

const root = createRoot(document.querySelector("#page")!);
applySettings();

function showSignedOut(message: string): void {
  root.render(<SignedOut message={message} />);
}

/** @param token undefined: of a company's page, which has a cookie */
function services(token: string | undefined): PageServices {
  const clients = createClients(token, () => {
    if (token === undefined) return goToLogin();
    forgetPageToken();
    showSignedOut("This page was opened before the mesh was started again.");
  });
  const watch = new WatchConnection(clients.watch);
  return { clients, watch, lists: new ListStore(watch), isTeam: token === undefined };
}

function show(token: string | undefined): void {
  root.render(
    <StrictMode>
      <PageContext value={services(token)}>
        <Shell />
      </PageContext>
    </StrictMode>,
  );
}

try {
  const login = hasPageToken() ? "local" : await teamLogin();
  if (login === "in") show(undefined);
  else if (login === "local") {
    const token = await pageToken();
    if (token === undefined) showSignedOut("");
    else show(token);
  }
} catch (thrown) {
  showSignedOut(thrown instanceof Error ? thrown.message : String(thrown));
}
