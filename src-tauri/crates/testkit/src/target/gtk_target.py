"""A GTK window that writes down, one JSON object a line, what it received."""
import json
import os
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("Gdk", "3.0")
gi.require_version("GdkX11", "3.0")
gi.require_version("Atk", "1.0")
from gi.repository import Atk, Gdk, GdkX11, GLib, Gtk  # noqa: E402,F401

log = open(sys.argv[1], "a", encoding="utf-8", buffering=1)
title = sys.argv[2]


def write(**event):
    log.write(json.dumps(event, ensure_ascii=False) + "\n")


STYLE = b"""
* { font-family: "DejaVu Sans"; font-size: 15pt; }
entry, textview text { font-size: 15pt; }
"""
provider = Gtk.CssProvider()
provider.load_from_data(STYLE)
Gtk.StyleContext.add_provider_for_screen(
    Gdk.Screen.get_default(), provider, Gtk.STYLE_PROVIDER_PRIORITY_USER
)

# A blinking cursor would change the picture while nothing happens.
Gtk.Settings.get_default().set_property("gtk-cursor-blink", False)

window = Gtk.Window(title=title)
window.set_default_size(900, 640)
window.set_position(Gtk.WindowPosition.CENTER)
named = {}


def remember(name, widget, spoken):
    widget.set_name(name)
    widget.get_accessible().set_name(spoken)
    named[name] = widget
    return widget


def label(text, of=None):
    made = Gtk.Label(label=text, xalign=0)
    if of is not None:
        made.set_mnemonic_widget(of)
    return made


entry = remember("entry", Gtk.Entry(), "Full name")
entry.connect("changed", lambda w: write(event="text", widget="entry", text=w.get_text()))
entry.connect("activate", lambda w: write(event="activate", widget="entry"))

password = remember("password", Gtk.Entry(visibility=False), "Password")
password.set_input_purpose(Gtk.InputPurpose.PASSWORD)
password.connect("changed", lambda w: write(event="text", widget="password", text=w.get_text()))

view = remember("notes", Gtk.TextView(wrap_mode=Gtk.WrapMode.WORD_CHAR), "Notes")
view.set_accepts_tab(True)


def view_changed(buffer):
    text = buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True)
    write(event="text", widget="notes", text=text)


view.get_buffer().connect("changed", view_changed)

status = remember("status", Gtk.Label(label="Nothing saved yet", xalign=0), "Status")


def button(name, text, then):
    made = remember(name, Gtk.Button(label=text), text)

    def clicked(_):
        write(event="click", widget=name)
        then()

    made.connect("clicked", clicked)
    return made


def save():
    buffer = view.get_buffer()
    write(
        event="saved",
        entry=entry.get_text(),
        notes=buffer.get_text(buffer.get_start_iter(), buffer.get_end_iter(), True),
        subscribe=subscribe.get_active(),
        urgent=urgent.get_active(),
    )
    status.set_text("Saved for " + (entry.get_text() or "nobody"))


def clear():
    entry.set_text("")
    view.get_buffer().set_text("")
    status.set_text("Everything cleared")


save_button = button("save", "Save", save)
clear_button = button("clear", "Clear", clear)

# Looks like a button, swallows every press and never changes: no hover, no focus, no relief.
dead_label = Gtk.Label(label="Submit order")
dead = remember("dead", Gtk.EventBox(), "Submit order")
frame = Gtk.Frame()
frame.add(dead_label)
dead.add(frame)
dead.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
dead.get_accessible().set_role(Atk.Role.PUSH_BUTTON)


def swallowed(_, event):
    if event.type == Gdk.EventType.BUTTON_PRESS:
        write(event="swallowed", widget="dead")
    return True


dead.connect("button-press-event", swallowed)


def check(name, text):
    made = remember(name, Gtk.CheckButton(label=text), text)
    made.connect("toggled", lambda w: write(event="toggle", widget=name, on=w.get_active()))
    return made


subscribe = check("subscribe", "Subscribe")
urgent = check("urgent", "Urgent")

rows = remember("rows", Gtk.ListBox(), "Cities")
for city in ["Amsterdam", "Barcelona", "Copenhagen", "Dublin", "Edinburgh", "Florence",
             "Geneva", "Helsinki", "Istanbul", "Jakarta", "Kingston", "Lisbon"]:
    row = Gtk.ListBoxRow()
    row.add(Gtk.Label(label=city, xalign=0))
    row.get_accessible().set_name(city)
    row.city = city
    rows.add(row)


def selected(_, row):
    write(event="select", widget="rows", item=row.city if row else None)


rows.connect("row-selected", selected)
rows.set_selection_mode(Gtk.SelectionMode.SINGLE)

scroll = Gtk.ScrolledWindow(min_content_width=240)
scroll.add(rows)
scroll.set_overlay_scrolling(False)
remember("scroll", scroll, "City list")
scroll.get_vadjustment().connect(
    "value-changed", lambda a: write(event="scroll", widget="scroll", value=int(a.get_value()))
)
notes_scroll = Gtk.ScrolledWindow()
notes_scroll.add(view)
notes_scroll.set_shadow_type(Gtk.ShadowType.IN)

grid = Gtk.Grid(row_spacing=14, column_spacing=18, margin=20)
grid.attach(label("Full name", entry), 0, 0, 1, 1)
grid.attach(entry, 1, 0, 3, 1)
grid.attach(label("Password", password), 0, 1, 1, 1)
grid.attach(password, 1, 1, 3, 1)
grid.attach(label("Notes", view), 0, 2, 1, 1)
notes_scroll.set_hexpand(True)
notes_scroll.set_vexpand(True)
grid.attach(notes_scroll, 1, 2, 3, 1)
grid.attach(subscribe, 1, 3, 1, 1)
grid.attach(urgent, 2, 3, 1, 1)
grid.attach(save_button, 1, 4, 1, 1)
grid.attach(clear_button, 2, 4, 1, 1)
grid.attach(dead, 3, 4, 1, 1)
grid.attach(status, 1, 5, 3, 1)
grid.attach(scroll, 4, 0, 1, 6)
window.add(grid)


def pressed(_, event):
    write(event="press", button=event.button, x=int(event.x_root), y=int(event.y_root),
          time=event.time)
    return False


def key(_, event):
    write(event="key", key=Gdk.keyval_name(event.keyval), state=int(event.state) & 0xFF,
          time=event.time)
    return False


window.add_events(Gdk.EventMask.BUTTON_PRESS_MASK)
window.connect("button-press-event", pressed)
window.connect("key-press-event", key)
window.connect("destroy", Gtk.main_quit)


def rectangles():
    found = {}
    for name, widget in named.items():
        if not widget.get_mapped():
            continue
        _, left, top = widget.get_toplevel().get_window().get_origin()
        moved = widget.translate_coordinates(widget.get_toplevel(), 0, 0)
        area = widget.get_allocation()
        found[name] = [left + moved[0], top + moved[1], area.width, area.height]
    return found


def ready():
    window.present()
    entry.grab_focus()
    write(event="ready", xid=window.get_window().get_xid(), pid=os.getpid(),
          areas=rectangles())
    return False


def moved(*_):
    GLib.idle_add(lambda: write(event="moved", areas=rectangles()))
    return False


window.show_all()
window.connect("configure-event", moved)
# After the window manager has placed the window and GTK has drawn it.
GLib.timeout_add(400, ready)
Gtk.main()
