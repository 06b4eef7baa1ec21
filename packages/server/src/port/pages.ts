/** What a browser sees of us alone: the page that takes a login code, and one where no dashboard is. */
export const loginPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>herdctl: sign in</title>
<link rel="stylesheet" href="/login.css">
<script type="module" src="/login.js"></script>
</head>
<body>
<main>
<h1>herdctl</h1>
<p id="word">Signing in…</p>
<noscript><p>This page needs JavaScript to sign you in.</p></noscript>
</main>
</body>
</html>
`;

/** The code goes out of the address before anything else, and out of the history with it. */
export const loginScript = `const code = location.hash.slice(1);
history.replaceState(null, "", "/login");
const word = document.getElementById("word");
const howTo = "Run herdctl open in the folder of the fleet, and follow the link that it prints.";
if (code === "") {
  word.textContent = howTo;
} else {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  }).catch(() => undefined);
  if (answer?.ok) {
    location.replace("/");
  } else {
    const told = await answer?.json().catch(() => undefined);
    const why = told?.errors?.[0]?.message ?? "the fleet does not answer";
    word.textContent = "Not signed in: " + why + ". " + howTo;
  }
}
`;

export const pageStyle = `:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 20vh auto 0; padding: 0 1rem; }
h1 { font-size: 1.25rem; }
`;

export const placeholderPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>herdctl</title>
<link rel="stylesheet" href="/login.css">
</head>
<body>
<main>
<h1>herdctl</h1>
<p>The fleet is at work. The dashboard is not part of this installation; the <a href="/v1/openapi.json">control API</a> answers here.</p>
</main>
</body>
</html>
`;
