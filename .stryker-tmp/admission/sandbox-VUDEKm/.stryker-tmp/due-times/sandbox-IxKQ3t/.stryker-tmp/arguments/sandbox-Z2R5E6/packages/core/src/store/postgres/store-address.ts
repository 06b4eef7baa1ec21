import { UserError } from "@herdctl/protocol";

/** The parsed address of a PostgreSQL database. */
export interface StoreAddress {
  /** The address as given, with the password. */
  connectionString: string;
  /** For messages, without the password. */
  name: string;
  /** Host and port, or the folder of the socket. */
  server: string;
  user: string | undefined;
  database: string;
  hasPassword: boolean;
}

const defaultPort = "5432";

/**
 * Parses `postgres://user:password@host:port/database`. The password must not appear in messages.
 */
export function parseStoreAddress(connectionString: string): StoreAddress {
  // With a socket, the host is a query parameter and missing in the URL itself.
  const withHost = connectionString.replace("@/", "@localhost/");
  const url = URL.canParse(withHost) ? new URL(withHost) : undefined;
  if (!url || !["postgres:", "postgresql:"].includes(url.protocol)) throw invalidAddressError();
  const database = decodePart(url.pathname.slice(1));
  const host = url.searchParams.get("host") ?? decodePart(url.hostname);
  if (database === "" || host === "") throw invalidAddressError();
  const server = host.startsWith("/") ? host : `${host}:${url.port || defaultPort}`;
  const user = decodePart(url.username) || undefined;
  return {
    connectionString,
    name: `postgres://${user === undefined ? "" : `${user}@`}${server}/${database}`,
    server,
    user,
    database,
    hasPassword: url.password !== "" || url.searchParams.has("password"),
  };
}

/** The text may be a misplaced password, so it is not repeated in the message. */
function invalidAddressError(): UserError {
  return new UserError("store_refused", "the store is not the address of a PostgreSQL database", {
    hint: "Write `postgres://user@host:5432/database`, with the password from an environment variable.",
  });
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidAddressError();
  }
}
