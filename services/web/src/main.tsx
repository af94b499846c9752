import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "@fontsource-variable/inter/wght.css";
import "./styles/tokens.css";
import "./styles/base.css";
import { createClients } from "./api/clients.ts";
import { forgetPageToken, pageToken } from "./login/page-token.ts";
import { SignedOut } from "./login/signed-out.tsx";
import { applySettings } from "./pages/settings/page-settings.ts";
import { Shell } from "./shell/shell.tsx";
import { ListStore } from "./store/list-store.ts";
import { PageContext, type PageServices } from "./store/page-context.ts";
import { WatchConnection } from "./watch/watch-connection.ts";

const root = createRoot(document.querySelector("#page")!);
applySettings();

function showSignedOut(message: string): void {
  root.render(<SignedOut message={message} />);
}

function services(token: string): PageServices {
  const clients = createClients(token, () => {
    forgetPageToken();
    showSignedOut("This page was opened before the mesh was started again.");
  });
  const watch = new WatchConnection(clients.watch);
  return { clients, watch, lists: new ListStore(watch) };
}

try {
  const token = await pageToken();
  if (token === undefined) showSignedOut("");
  else
    root.render(
      <StrictMode>
        <PageContext value={services(token)}>
          <Shell />
        </PageContext>
      </StrictMode>,
    );
} catch (thrown) {
  showSignedOut(thrown instanceof Error ? thrown.message : String(thrown));
}
