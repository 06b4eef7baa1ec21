import { UserError } from "@herdctl/core";
import { z } from "zod";
import { endpoint } from "./endpoint.ts";

/** Whether the fleet is there, who asks, and how a browser comes in. */
export const accessEndpoints = {
  health: endpoint("health", {
    summary: "Whether the process answers. Needs no token and tells nothing else.",
    response: z.object({ status: z.literal("ok") }),
    answer: async () => ({ status: "ok" as const }),
  }),
  ready: endpoint("ready", {
    summary: "Whether the fleet takes work; 503 while it starts, stops or cannot record anything.",
    response: z.object({ status: z.literal("ready") }),
    answer: async ({ control }) => {
      const { state } = (await control.status()).fleet;
      if (state === "running") return { status: "ready" as const };
      throw new UserError("fleet_unreachable", `the fleet is ${state}`, { hint: "Ask again." });
    },
  }),
  ping: endpoint("ping", {
    summary: "Whether a fleet answers here, and which version of this contract it speaks.",
    response: z.object({ api: z.literal(1) }),
    answer: async () => ({ api: 1 as const }),
  }),
  access: endpoint("access", {
    summary: "What whoever asks may do: `all`, or only `read`.",
    response: z.object({ scope: z.enum(["all", "read"]) }),
    answer: async ({ visitor }) => ({ scope: visitor.scope }),
  }),
  loginLink: endpoint("loginLink", {
    summary:
      "A link that signs one browser in, once, within ten minutes. Only over the socket of the fleet.",
    body: z.strictObject({ read_only: z.boolean().default(false) }),
    response: z.object({ url: z.string(), expires_at: z.iso.datetime() }),
    answer: async ({ visitor, loginLink }, { body }) => {
      if (!visitor.isLocal) throw new UserError("only_local", "this is for the local user only");
      const link = loginLink(body.read_only ? "read" : "all");
      if (link) return link;
      throw new UserError("fleet_unreachable", "the fleet does not listen for browsers", {
        hint: "Run `herdctl status` to see why.",
      });
    },
  }),
};
