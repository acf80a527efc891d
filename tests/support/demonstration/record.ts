// `npm run demonstration:record` runs all steps and experiments with a real service and a real
// browser, and writes the run with the page that plays it into one file.
import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Recording } from '../../../demonstration/page/recording.ts'
import { demonstrationTexts } from '../../../demonstration/texts/texts.ts'
import { bundle } from '../../../element/build.js'
import { drawing } from '../../../server/pages/drawing.ts'
import { type BrowserPage, BrowserPages } from '../pages/browser-page.ts'
import type { TestService } from '../service.ts'

const root = new URL('../../../', import.meta.url)
export const recordedPage = new URL('demonstration/dist/demonstration.html', root)

export async function recordIn({ page }: BrowserPage): Promise<Recording> {
  const [tab] = await bundle({
    tab: fileURLToPath(new URL('demonstration/testing/record-tab.ts', root)),
  })
  const url = new URL('/carillon-record.js', page.url()).href
  await page.route(url, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: tab?.code ?? '' }),
  )
  await page.addScriptTag({ url, type: 'module' })
  const titles = Object.values(demonstrationTexts('en').notifications)
  return page.evaluate(
    (given) =>
      (globalThis as unknown as { recordAll: (titles: string[]) => Promise<Recording> }).recordAll(
        given,
      ),
    titles,
  )
}

/** The page of the service, which plays a recording. */
export async function playing(service: TestService, recording: Recording, language: string) {
  const page = await service.get('/demonstration', { 'accept-language': language })
  const body = page.text.replace('</main>', `</main>${dataOf(recording)}`)
  return { '/demonstration': { contentType: 'text/html', body } }
}

function dataOf(recording: Recording): string {
  return `<script type="application/json" id="recording">${safe(JSON.stringify(recording))}</script>`
}

/** A text that cannot end its element. */
function safe(text = ''): string {
  return text.replaceAll('</', '<\\/')
}

/** The policy of the page allows no connection. */
export async function pageOf(recording: Recording): Promise<string> {
  const [script] = await bundle({
    page: fileURLToPath(new URL('demonstration/page/demonstration-page.ts', root)),
  })
  const styles = await Promise.all(
    ['pages/look/page.css', 'demonstration/page/demonstration.css'].map((path) =>
      readFile(new URL(path, root), 'utf8'),
    ),
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="content-security-policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<link rel="icon" href="data:,">
<title>Session or token</title>
<style>${styles.join('\n')}</style>
</head>
<body class="wide">
<main id="main" tabindex="-1">
${drawing.text}<h1 id="top" tabindex="-1">Session or token</h1>
<noscript><p>This page needs JavaScript.</p></noscript>
<div id="walk"></div>
</main>
${dataOf(recording)}
<script type="module">${safe(script?.code)}</script>
</body>
</html>
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await using pages = await BrowserPages.start()
  const opened = await pages.open('/demonstration')
  const text = await pageOf(await recordIn(opened))
  mkdirSync(new URL('.', recordedPage), { recursive: true })
  writeFileSync(recordedPage, text)
  process.stdout.write(`${fileURLToPath(recordedPage)}: ${text.length} characters\n`)
}
