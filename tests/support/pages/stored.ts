// For tests: what the origin of a page has stored in the browser, other than cookies.
import type { Page } from 'playwright-core'

/** The names of its databases, of its entries in both storages, and of its caches. */
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
