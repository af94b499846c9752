import { createContext } from "react";

/** What the shell shows above a page. */
export type ShellDialog = "palette" | "keys";

/** Opens one of them. */
export const DialogContext = createContext<(dialog: ShellDialog) => void>(() => {});
