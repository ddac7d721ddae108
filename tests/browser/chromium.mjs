// A headless Chromium, spoken to over a pipe in its DevTools protocol, with what node has and nothing else.
import {spawn} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

export class Chromium {
  static async open(program = process.env.CHROMIUM ?? 'chromium') {
    const browser = new Chromium();
    browser.profile = mkdtempSync(join(tmpdir(), 'gradus-chromium-'));
    browser.process = spawn(program, [
      '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
      '--no-first-run', '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${browser.profile}`, 'about:blank',
    ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    browser.answers = new Map();
    browser.listeners = [];
    browser.count = 0;
    let rest = '';
    browser.process.stdio[4].setEncoding('utf8').on('data', (text) => {
      const messages = (rest + text).split('\0');
      rest = messages.pop();
      for (const message of messages) browser.hear(JSON.parse(message));
    });
    browser.ended = new Promise((resolve) => browser.process.on('exit', resolve));
    browser.process.on('error', (error) => { throw error; });
    return browser;
  }
  hear(message) {
    if (message.id === undefined) return this.listeners.forEach((listener) => listener(message));
    const {resolve, reject} = this.answers.get(message.id);
    this.answers.delete(message.id);
    message.error ? reject(new Error(message.error.message)) : resolve(message.result);
  }
  send(method, params = {}, sessionId) {
    const id = ++this.count;
    this.process.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + '\0');
    return new Promise((resolve, reject) => this.answers.set(id, {resolve, reject}));
  }
  async close() {
    this.process.kill();
    await this.ended;
    try {
      rmSync(this.profile, {recursive: true, force: true, maxRetries: 20});
    } catch (error) {  // the browser's children may still write there; a folder left in /tmp is no failure of the page
      if (error.code !== 'ENOTEMPTY') throw error;
    }
  }
}

// One page, and what it has complained of.
export class Page {
  static async open(browser, {width = 1280, height = 900, dark = false, phone = false, calm = false} = {}) {
    const page = new Page();
    page.browser = browser;
    page.complaints = [];
    const {targetId} = await browser.send('Target.createTarget', {url: 'about:blank'});
    page.targetId = targetId;
    page.session = (await browser.send('Target.attachToTarget', {targetId, flatten: true})).sessionId;
    browser.listeners.push(({method, params, sessionId}) => {
      if (sessionId !== page.session) return;
      if (method === 'Runtime.exceptionThrown') {
        const {text, exception} = params.exceptionDetails;
        page.complaints.push(exception?.description ?? text);
      }
      if (method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(params.type))
        page.complaints.push(params.args.map((arg) => arg.value ?? arg.description).join(' '));
      if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level))
        page.complaints.push(params.entry.text);
      if (method === 'Page.loadEventFired') page.loaded?.();
    });
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(domain + '.enable');
    await page.send('Network.emulateNetworkConditions', {offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0});
    await page.show({width, height, dark, phone, calm});
    return page;
  }
  // media: print is how it looks on paper.
  async show({width = 1280, height = 900, dark = false, phone = false, calm = false, media = ''}) {
    await this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: phone ? 2 : 1, mobile: phone});
    await this.send('Emulation.setEmulatedMedia', {media, features: [
      {name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'},
      {name: 'prefers-reduced-motion', value: calm ? 'reduce' : 'no-preference'},
    ]});
  }
  send(method, params) { return this.browser.send(method, params, this.session); }
  async go(url) {
    const done = new Promise((resolve) => { this.loaded = resolve; });
    await this.send('Page.navigate', {url});
    await done;
  }
  async evaluate(expression) {
    const {result, exceptionDetails} =
        await this.send('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true, userGesture: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }
  async until(condition, seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
      if (await this.evaluate(condition)) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`after ${seconds} s this is not so: ${condition}`);
  }
  // Where an element is clicked, with the mouse.
  async click(id) {
    const {x, y} = await this.evaluate(`(() => { const e = document.getElementById('${id}'); e.scrollIntoView({block: 'center'});
      const r = e.getBoundingClientRect(); return {x: r.x + r.width / 2, y: r.y + r.height / 2}; })()`);
    for (const type of ['mousePressed', 'mouseReleased'])
      await this.send('Input.dispatchMouseEvent', {type, x, y, button: 'left', clickCount: 1});
  }
  async key(key, {code = key, text, modifiers = 0, number = 0} = {}) {
    for (const type of [text ? 'keyDown' : 'rawKeyDown', 'keyUp'])
      await this.send('Input.dispatchKeyEvent', {type, key, code, text, modifiers, windowsVirtualKeyCode: number});
  }
  async picture(whole = true) {
    const {data} = await this.send('Page.captureScreenshot', {format: 'png', captureBeyondViewport: whole});
    return Buffer.from(data, 'base64');
  }
  close() { return this.browser.send('Target.closeTarget', {targetId: this.targetId}); }
}
