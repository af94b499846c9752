import { existsSync } from "node:fs";
import type { CliConfig } from "../config.ts";
import { LOCAL, ProfileStore } from "../profiles/profile-store.ts";
import { SourceBook } from "./source-book.ts";

/** The book of the mesh that commands use now: what goes to one says nothing about another. */
export function openSourceBook(config: CliConfig): SourceBook {
  return new SourceBook(config.directory, destinationOf(config));
}

/** Whether it was opened before. */
export function hasSourceBook(config: CliConfig): boolean {
  return existsSync(SourceBook.fileOf(config.directory, destinationOf(config)));
}

function destinationOf(config: CliConfig): string {
  return config.edgeUrl === "" ? (new ProfileStore(config.directory).chosen(config.profile)?.name ?? LOCAL) : config.edgeUrl;
}
