// What the settings say about the pages of the service: their place, name and look, and whether there is a demonstration.
import { readFileSync, statSync } from 'node:fs'
import { CarillonError, messageOf } from '../basics/errors.ts'
import type { Config } from '../config/settings.ts'
import { isLoopback } from '../config/values.ts'
import type { PageSettings } from '../pages/page.ts'

const maxLogoBytes = 256 * 1024

/** Throws UNAVAILABLE if the picture cannot be read. */
export function pageSettings(config: Config): PageSettings {
  const settings = demonstrationSettings(config)
  return {
    ...settings,
    prefix: config.pagesPrefix,
    name: config.pagesName,
    accent: config.accent,
    logo: config.logo === undefined ? undefined : readLogo(config.logo),
    hasDocumentationLink: config.documentationLink ?? settings.isHere,
    hasMail: config.smtpUrl !== undefined,
    securityContact: config.securityContact,
    imageHosts: config.imageHosts,
  }
}

/** The demonstration is only for readers on this machine, unless the settings say otherwise. */
export function demonstrationSettings({ host, publicUrl, allowedHosts, demonstration }: Config) {
  const names = [host, ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]), ...allowedHosts]
  const isHere = names.every(isLoopback)
  return { isHere, hasDemonstration: demonstration ?? isHere }
}

function readLogo(path: string): PageSettings['logo'] {
  try {
    if (statSync(path).size > maxLogoBytes) throw new Error(`it has more than ${maxLogoBytes / 1024} KiB`)
    return { bytes: readFileSync(path), type: /\.png$/i.test(path) ? 'image/png' : 'image/svg+xml' }
  } catch (cause) {
    const problem = `The picture of CARILLON_LOGO cannot be used: ${messageOf(cause)}`
    throw new CarillonError('UNAVAILABLE', problem, { cause })
  }
}
