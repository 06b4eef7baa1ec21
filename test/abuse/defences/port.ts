import type { Defence } from "../defence.ts";

const ownHost = "packages/server/src/access/own-host.ts";
const apiTest = "test/abuse/api.test.ts";

export const portDefences: readonly Defence[] = [
  {
    name: "only an admin may have a prompt expanded",
    guards: "files of the machine, against a token that may only trigger",
    edit: {
      file: "packages/server/src/contract/endpoints.ts",
      from: 'if (body.expand && visitor.scope !== "admin") {',
      to: 'if (body.expand && visitor.scope === "read") {',
    },
    red: { file: "test/server/tokens.test.ts", test: "only an admin may have a prompt expanded" },
  },
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
  {
    name: "a right token is not refused for wrong ones",
    guards: "the owner's way in, against an attacker who sends wrong tokens",
    edit: {
      file: "packages/server/src/access/access.ts",
      from: "    const fixed = fixedScope(token, this.#opened.keys);",
      to: "    if (this.#failures.count(origin, new Date())) throw new UserError('too_many_failures', '');\n    const fixed = fixedScope(token, this.#opened.keys);",
    },
    red: { file: apiTest, test: "a right token, link or cookie is not" },
  },
  {
    name: "a sign-out is kept in the database",
    guards: "a signed-out browser, against a copy of its cookie",
    edit: {
      file: "packages/server/src/access/access.ts",
      from: "      await this.fleet.access.endLogin(visitor.credential.id, visitor.actor);",
      to: "",
    },
    red: {
      file: "test/server/port.test.ts",
      test: "a cookie that was signed out stays so after the fleet was restarted",
    },
  },
  {
    name: "each route needs its scope",
    guards: "the fleet, against a token that may only do something else",
    edit: {
      file: "packages/server/src/contract/scopes.ts",
      from: "  if (allows(scope, needed)) return;",
      to: "  if (scope !== undefined) return;",
    },
    red: { file: "test/server/tokens.test.ts", test: "a token with the scope read opens exactly" },
  },
  {
    name: "a token of one agent sees that agent alone",
    guards: "jobs of other agents, against a token that is not for them",
    edit: {
      file: "packages/server/src/create-app.ts",
      from: "return agents ? new LimitedFleet(control, agents) : control;",
      to: "return agents && !control ? new LimitedFleet(control, agents) : control;",
    },
    red: {
      file: "test/server/tokens.test.ts",
      test: "a token for one agent sees and triggers that agent alone",
    },
  },
  {
    name: "events are for the agents of the token",
    guards: "what other agents do, against a token that is not for them",
    edit: {
      file: "packages/server/src/live/event-feed.ts",
      from: "return agents === null || agent === anyAgent",
      to: "return agents !== undefined || agent === anyAgent",
    },
    red: {
      file: "test/server/tokens.test.ts",
      test: "a token for one agent hears of no other agent's jobs",
    },
  },
  {
    name: "streams end with their token",
    guards: "the fleet, against a stream that outlives its token",
    edit: {
      file: "packages/server/src/port/end-with-access.ts",
      from: "if (!isAdmitted) outgoing.destroy();",
      to: "",
    },
    red: { file: "test/server/tokens.test.ts", test: "a token ends when it expires or is revoked" },
  },
  {
    name: "who acted is the authenticated identity",
    guards: "the record, against a caller who names somebody else",
    edit: {
      file: "packages/core/src/fleet/fleet-actions.ts",
      from: "const actor = note === undefined ? this.actor : { ...this.actor, note };",
      to: "const actor = note === undefined ? this.actor : { ...this.actor, identity: note };",
    },
    red: {
      file: "test/fleet/audit.test.ts",
      test: "records who did what from where, whatever the caller calls itself",
    },
  },
  {
    name: "a record holds the hash of the one before it",
    guards: "the audit log, against a record that was rewritten with its hash",
    edit: {
      file: "packages/core/src/state/verify-audit.ts",
      from: "content.previous_hash !== last.hash",
      to: "content.previous_hash === 'none'",
    },
    red: {
      file: "test/state/audit.test.ts",
      test: "finds an edited record whose hash was computed",
    },
  },
  {
    name: "the head of the audit log is kept apart",
    guards: "the audit log, against cutting off its end",
    edit: {
      file: "packages/core/src/state/verify-audit.ts",
      from: "    return { head, problems: [...problems, ...problemsAtEnd(head, last)] };",
      to: "    return { head, problems: head.count < 0 ? problemsAtEnd(head, last) : problems };",
    },
    red: { file: "test/state/audit.test.ts", test: "finds that the end was cut off" },
  },
  {
    name: "failures are counted, not all recorded",
    guards: "the disk, against an attacker who sends wrong tokens",
    edit: {
      file: "packages/core/src/fleet/audit.ts",
      from: "    if (count === undefined && isRoom) {",
      to: "    if (count === undefined || isRoom || !isRoom) {",
    },
    red: { file: "test/fleet/audit.test.ts", test: "many failures from many addresses" },
  },
];
