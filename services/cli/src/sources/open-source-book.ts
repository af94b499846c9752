import type { CliConfig } from "../config.ts";
import { LOCAL, ProfileStore } from "../profiles/profile-store.ts";
import { SourceBook } from "./source-book.ts";

/** The book of the mesh that commands use now: what goes to one says nothing about another. */
export function openSourceBook(config: CliConfig): SourceBook {
  const destination = config.edgeUrl === "" ? (new ProfileStore(config.directory).chosen(config.profile)?.name ?? LOCAL) : config.edgeUrl;
  return new SourceBook(config.directory, destination);
}
