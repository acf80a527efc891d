// What has the origin of a page stored in the browser, other than cookies?
import type { Page } from 'playwright-core'

export function storedIn(page: Page): Promise<string[]> {
  return page.evaluate(async () => {
    const databases = await indexedDB.databases()
    return [
      ...databases.map(({ name = '' }) => name),
      ...Object.keys(localStorage),
      ...Object.keys(sessionStorage),
      ...(await caches.keys()),
    ]
  })
}
