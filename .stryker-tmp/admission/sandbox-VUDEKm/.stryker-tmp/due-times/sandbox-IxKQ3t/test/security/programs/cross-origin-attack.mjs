// Runs in a page of another origin: tries every kind of request to the fleet and returns the results.
globalThis.attack = async (url) => {
  const body = JSON.stringify({ agent: "coder" });
  const headers = { "content-type": "application/json" };
  return {
    read: await asked("/v1/status", {}),
    post: await asked("/v1/jobs", { method: "POST", body }),
    blindPost: await asked("/v1/jobs", { method: "POST", body, mode: "no-cors" }),
    jsonPost: await asked("/v1/jobs", { method: "POST", body, headers }),
    stop: await asked("/v1/shutdown", { method: "POST", mode: "no-cors" }),
    events: await settled(new EventSource(`${url}/v1/events`, { withCredentials: true })),
    socket: await settled(new WebSocket(`${url.replace("http", "ws")}/v1/events`)),
    script: await loaded(document.createElement("script"), "/v1/status"),
    image: await loaded(document.createElement("img"), "/icon.svg"),
  };

  async function asked(path, init) {
    try {
      const response = await fetch(url + path, { credentials: "include", ...init });
      return `${response.type} ${response.status} ${await response.text()}`;
    } catch {
      return "refused";
    }
  }

  function settled(target) {
    return new Promise((resolve) => {
      target.onopen = () => resolve("opened");
      target.onerror = () => resolve("refused");
      setTimeout(() => resolve("nothing came of it"), 20_000);
    });
  }

  function loaded(element, path) {
    return new Promise((resolve) => {
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("refused");
      setTimeout(() => resolve("nothing came of it"), 20_000);
      element.src = url + path;
      document.body.append(element);
    });
  }
};
