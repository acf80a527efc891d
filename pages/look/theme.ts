// On every page: the theme that the reader chose on this device. page.css has both themes; without this script the system decides.
import { displayTheme, keptTheme, onThemeChange } from './preferences.ts'

displayTheme(keptTheme())
onThemeChange(displayTheme)
