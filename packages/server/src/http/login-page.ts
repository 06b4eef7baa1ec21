/** The page that redeems a login code. */
export const loginPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>herdctl: sign in</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/login.css">
<script type="module" src="/login.js"></script>
</head>
<body>
<main>
<h1>herdctl</h1>
<p id="status">Signing in…</p>
<noscript><p>This page needs JavaScript to sign you in.</p></noscript>
</main>
</body>
</html>
`;

/** Removes the code from the URL and the browser history before anything else. */
export const loginScript = `const code = location.hash.slice(1);
history.replaceState(null, "", "/login");
const status = document.getElementById("status");
const hint = "Run herdctl open in the fleet's folder and open the link it prints.";
if (code === "") {
  status.textContent = hint;
} else {
  const response = await fetch("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  if (response?.ok) {
    location.replace("/");
  } else {
    const body = await response?.json().catch(() => undefined);
    const reason = body?.errors?.[0]?.message ?? "the fleet is not responding";
    status.textContent = "Not signed in: " + reason + ". " + hint;
  }
}
`;

export const pageStyle = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 20vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.25rem; }
`;

/** The page shown if the dashboard is not installed. */
export const placeholderPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>herdctl</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/login.css">
</head>
<body>
<main>
<h1>herdctl</h1>
<p>The fleet is running. This installation does not include the dashboard, but the <a href="/v1/openapi.json">control API</a> is available.</p>
</main>
</body>
</html>
`;
