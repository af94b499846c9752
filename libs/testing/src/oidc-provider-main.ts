import { once } from "node:events";
import { startOidcProvider, type ProviderOptions, type ProviderPerson } from "./oidc-provider.ts";

/** The people of the demonstration, in two groups. */
const PEOPLE: readonly ProviderPerson[] = [
  { subject: "ada", name: "Ada Lovelace", email: "ada@acme.example", groups: ["engineers"] },
  { subject: "grace", name: "Grace Hopper", email: "grace@acme.example", groups: ["leads"] },
];

// Told by its starter over the IPC channel, since a client's secret is nobody else's business; it ends with its starter.
const [options] = (await once(process, "message")) as [Omit<ProviderOptions, "people">];
await startOidcProvider({ ...options, people: PEOPLE });
process.on("disconnect", () => process.exit(0));
process.on("SIGTERM", () => process.exit(0));
process.send?.("ready");
