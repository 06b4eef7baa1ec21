import { z } from "zod";

export const effort = z.enum(["low", "medium", "high", "xhigh", "max"]);

export const permissionMode = z.enum([
  "default",
  "acceptEdits",
  "auto",
  "bypassPermissions",
  "plan",
  "dontAsk",
]);
