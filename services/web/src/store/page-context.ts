import { createContext, useContext } from "react";
import type { Clients } from "../api/clients.ts";
import type { WatchConnection } from "../watch/watch-connection.ts";
import type { ListStore } from "./list-store.ts";

/** What every part of the page may use. */
export interface PageServices {
  readonly clients: Clients;
  readonly watch: WatchConnection;
  readonly lists: ListStore;
  /** Whether people log in here, with a cookie; else there is one user, and the page has a token. */
  readonly isTeam: boolean;
}

export const PageContext = createContext<PageServices | undefined>(undefined);

export function usePage(): PageServices {
  const services = useContext(PageContext);
  if (services === undefined) throw new Error("a part of the page stands outside of it");
  return services;
}
