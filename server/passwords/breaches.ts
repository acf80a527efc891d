// Is a password in a list of stolen ones? Asks a service with the range interface of Have I Been Pwned: it receives the first five of
// the 40 digits of the SHA-1 hash, and returns the other 35 of all hashes that begin with them, so that it does not learn the password
// (k-anonymity). SHA-1 is that interface's choice, and protects nothing here.
import { hash } from 'node:crypto'
import { boundedFetch } from '../basics/bounded-fetch.ts'
import { CarillonError } from '../basics/errors.ts'

/** The real answers have about 40 KiB. */
const maxSize = 1024 * 1024
const prefixLength = 5

export type BreachOptions = {
  /** The five digits are appended to it. Without a slash at its end. */
  url: string
  timeoutMs: number
  /** Called if the request to the service failed. */
  onFailure: (error: unknown) => void
}

/** False if the service cannot be reached in time: a user can set a new password while another service is down. */
export async function isBreached(password: string, { url, timeoutMs, onFailure }: BreachOptions): Promise<boolean> {
  const digest = hash('sha1', password, 'hex').toUpperCase()
  const [prefix, suffix] = [digest.slice(0, prefixLength), digest.slice(prefixLength)]
  // Rows without a meaning are added, so that the length of the answer does not reveal the prefix.
  const headers = { 'add-padding': 'true', 'user-agent': 'carillon' }
  try {
    const response = await boundedFetch(`${url}/${prefix}`, { headers }, { timeoutMs, maxSize, fault })
    if (response.status !== 200) throw fault(`the answer has the status ${response.status}`)
    // A line is `<35 digits>:<how often>`; a padding row has 0.
    const rows = (await response.text()).split('\n').map((line) => line.trim().toUpperCase().split(':'))
    return rows.some(([found, count]) => found === suffix && Number(count) > 0)
  } catch (error) {
    onFailure(error)
    return false
  }
}

const fault = (problem: string) => new CarillonError('UNAVAILABLE', problem)
