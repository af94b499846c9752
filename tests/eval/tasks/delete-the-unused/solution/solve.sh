rm parts/bell parts/lamp
