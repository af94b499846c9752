/** As models are named after it, `llama/NAME`, and errors say it. */
export const LLAMA = "llama";
