// Gives `fetch` the cookies of a browser. Import it before the script that needs them.
import { CookieJar } from './cookie-jar.ts'

const jar = new CookieJar()
globalThis.fetch = ((url: string, init: RequestInit = {}) => jar.fetch(url, init)) as typeof fetch
