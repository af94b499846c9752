import { readCliConfig } from "../../config.ts";
import { ProfileStore } from "../../profiles/profile-store.ts";
import { profileToken } from "../../profiles/profile-token.ts";

/** Makes the login of a profile anew, which may take longer than a hook has. */
const [profile = ""] = process.argv.slice(2);
await profileToken(new ProfileStore(readCliConfig(process.env).directory), profile)();
