// Builds the page of this checkout, unless it is built already for its sources: for tests, and for images.
import { fileURLToPath } from "node:url";
import { buildPage } from "./prepare/page.mjs";

buildPage(fileURLToPath(new URL("..", import.meta.url)));
