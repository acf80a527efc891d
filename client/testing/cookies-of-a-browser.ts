// For tests: gives a script the cookies that a browser would keep for it. To be imported before the script.
import { CookieJar } from './cookie-jar.ts'

const jar = new CookieJar()
globalThis.fetch = ((url: string, init: RequestInit = {}) => jar.fetch(url, init)) as typeof fetch
