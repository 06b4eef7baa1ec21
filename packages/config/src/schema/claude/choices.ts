import { z } from "zod";
import { nonEmptyText } from "../strings.ts";

export const effort = z.enum(["low", "medium", "high", "xhigh", "max"]);

export const permissionMode = z.enum([
  "default",
  "acceptEdits",
  "auto",
  "bypassPermissions",
  "plan",
  "dontAsk",
]);

/** One text is short for a list with one. */
export const textOrList = z.codec(
  z.union([nonEmptyText, z.array(nonEmptyText).min(1)]),
  z.array(z.string()),
  {
    decode: (input) => (typeof input === "string" ? [input] : input),
    encode: (list) => list,
  },
);
