import type { Defence } from "../defence.ts";

const ownHost = "packages/server/src/access/own-host.ts";
const apiTest = "test/abuse/api.test.ts";

export const portDefences: readonly Defence[] = [
  {
    name: "only our own names are answered",
    guards: "the fleet, against a name that was made to lead here",
    edit: {
      file: ownHost,
      from: 'if (!isOwnName(nameOf(host), called)) return "this address is not known by that name";',
      to: 'if (!isOwnName("localhost", called)) return nameOf(host);',
    },
    red: { file: apiTest, test: "a name that was made to lead here is not ours" },
  },
  {
    name: "the origin must be ours",
    guards: "the fleet, against another page",
    edit: {
      file: ownHost,
      from: 'if (origin !== undefined && hostOf(origin) !== host) return "another page sent this";',
      to: 'if (origin !== undefined && hostOf(origin) === "") return "another page sent this";',
    },
    red: { file: apiTest, test: "another page can neither post nor listen" },
  },
  {
    name: "what a browser says of where a request comes from counts",
    guards: "the fleet, against another page that sends no origin",
    edit: {
      file: ownHost,
      from: 'if (site === undefined || site === "same-origin" || site === "none") return undefined;',
      to: 'if (site !== "") return undefined;',
    },
    red: { file: apiTest, test: "another page can neither post nor listen" },
  },
  {
    name: "a token must be the whole one",
    guards: "the fleet, against whoever reaches the port",
    edit: {
      file: "packages/server/src/access/keys.ts",
      from: "return timingSafeEqual(digest(given), digest(expected));",
      to: "return given !== '' && timingSafeEqual(digest(''), digest('')) && expected.startsWith(given);",
    },
    red: { file: apiTest, test: "tokens that are missing, wrong, blank, cut short" },
  },
  {
    name: "wrong tokens are counted",
    guards: "the token, against guessing",
    edit: {
      file: "packages/server/src/access/failures.ts",
      from: "return counted.count > maxFailures;",
      to: "return counted.count > maxFailures * maxAddresses;",
    },
    red: { file: apiTest, test: "who tries many tokens is made to wait" },
  },
  {
    name: "a cookie must be signed by us",
    guards: "the fleet, against a cookie that was made up",
    edit: {
      file: "packages/server/src/access/cookie.ts",
      from: "return isSame(signed, signature(id, keys)) ? id : undefined;",
      to: "return isSame(signed, '') ? undefined : id;",
    },
    red: { file: apiTest, test: "tokens that are missing, wrong, blank, cut short" },
  },
  {
    name: "a login link works once",
    guards: "the fleet, against a link in a history",
    edit: {
      file: "packages/server/src/access/login-codes.ts",
      from: "this.#open.delete(name);\n    return found",
      to: "return found",
    },
    red: { file: "test/server/port.test.ts", test: "a login link signs one browser in, once" },
  },
  {
    name: "files are given by a list, not by a path",
    guards: "files beyond the dashboard's, against a link",
    edit: {
      file: "packages/server/src/port/static-files.ts",
      from: ".filter((entry) => entry.isFile() && Object.hasOwn",
      to: ".filter((entry) => !entry.isDirectory() && Object.hasOwn",
    },
    red: { file: apiTest, test: "no path leads out of the dashboard's folder" },
  },
  {
    name: "a body is refused when its size is told",
    guards: "the fleet's memory",
    edit: {
      file: "packages/server/src/hooks/read-body.ts",
      from: 'if (Number(incoming.headers["content-length"] ?? 0) > limit) throw tooLarge(limit);',
      to: "",
    },
    red: { file: "test/webhooks/abuse.test.ts", test: "a body of 30 MB is refused as soon as" },
  },
  {
    name: "a body is refused when it is too much",
    guards: "the fleet's memory, against a body without a size",
    edit: {
      file: "packages/server/src/hooks/read-body.ts",
      from: "if (size > limit) return reject(tooLarge(limit));",
      to: "",
    },
    red: { file: "test/webhooks/abuse.test.ts", test: "a body that does not tell its size" },
  },
  {
    name: "tools of the fleet that were not opened are closed",
    guards: "the fleet, against a program that may only look",
    edit: {
      file: "packages/server/src/mcp/fleet-mcp-server.ts",
      from: "return needs === undefined || allow.includes(needs);",
      to: "return needs === undefined || allow.length >= 0;",
    },
    red: { file: "test/mcp/stdio.test.ts", test: "a client that may only look sees the fleet" },
  },
];
