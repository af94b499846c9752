import { serveReplica, type ServedReplica } from "./serve-replica.ts";

// Started by a test with what it serves, which gets the port and may kill it.
const { port } = await serveReplica(JSON.parse(process.argv[2]!) as ServedReplica);
process.on("disconnect", () => process.exit());
process.send!(port);
