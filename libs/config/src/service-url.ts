import { text, type Setting } from "./setting.ts";

const PORT = String.raw`:\d{1,5}`;
/** One server, a name that has an address for each replica, or the addresses themselves: `createMeshTransport` takes these. */
const FORMS = [
  /^https?:\/\/[^/]+\/?$/,
  new RegExp(String.raw`^dns:\/\/\/[^/:,]+${PORT}$`),
  new RegExp(String.raw`^ipv4:[\d.]+${PORT}(,[\d.]+${PORT})*$`),
  new RegExp(String.raw`^ipv6:\[[\da-f:]+\]${PORT}(,\[[\da-f:]+\]${PORT})*$`, "i"),
];

/** Where a service of the mesh is. */
export const serviceUrl = (described: { readonly variable: string; readonly description: string }): Setting<string> => ({
  ...text(described),
  parse: (value) => {
    if (FORMS.some((form) => form.test(value))) return value;
    throw new Error(`must be http://host:port, dns:///host:port or ipv4:address:port,address:port, not "${value}"`);
  },
});
