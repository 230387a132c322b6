// A page that was opened from a folder may not start a Worker, which the search needs. Here a hidden frame does its work.
// The theme's offline plugin would otherwise fetch a script for this from elsewhere.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script>var postMessage = data => parent.dispatchEvent(new MessageEvent("from-frame", { data }));</` +
        `script><script src="${url}"></` + `script>`;
      this.ready = new Promise(resolve => this.frame.addEventListener("load", resolve, { once: true }));
      window.addEventListener("from-frame", event => {
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      document.body.append(this.frame);
    }
    async postMessage(data) {
      await this.ready;
      this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
    }
    terminate() { this.frame.remove(); }
  };
}
