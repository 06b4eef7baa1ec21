import { UserError } from "../../errors/user-error.ts";

/** Where a PostgreSQL database is, as `store` says it. */
export interface StoreAddress {
  /** As it was given, with the password. */
  connectionString: string;
  /** For messages. */
  name: string;
  /** Host and port, or the folder of the socket. */
  server: string;
  user: string | undefined;
  database: string;
  hasPassword: boolean;
}

const defaultPort = "5432";

/** `postgres://user:password@host:port/database`; the password never shows in what is said about it. */
export function parseAddress(given: string): StoreAddress {
  // With a socket the host stands in a parameter, which a URL does not know.
  const whole = given.replace("@/", "@localhost/");
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (!url || !["postgres:", "postgresql:"].includes(url.protocol)) throw notAnAddress();
  const database = readPart(url.pathname.slice(1));
  const host = url.searchParams.get("host") ?? readPart(url.hostname);
  if (database === "" || host === "") throw notAnAddress();
  const server = host.startsWith("/") ? host : `${host}:${url.port || defaultPort}`;
  const user = readPart(url.username) || undefined;
  return {
    connectionString: given,
    name: `postgres://${user === undefined ? "" : `${user}@`}${server}/${database}`,
    server,
    user,
    database,
    hasPassword: url.password !== "" || url.searchParams.has("password"),
  };
}

/** The given text may be a password that was put in the wrong place: it is not repeated. */
function notAnAddress(): UserError {
  return new UserError("store_refused", "the store is not the address of a PostgreSQL database", {
    hint: "Write it as `postgres://user@host:5432/database`, the password from a variable of the environment.",
  });
}

function readPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw notAnAddress();
  }
}
