// uPlot does not load if the language of the browser is no tag (BCP 47): without a locale, Chromium has "en-US@posix".
try {
  new Intl.NumberFormat(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: document.documentElement.lang })
}
